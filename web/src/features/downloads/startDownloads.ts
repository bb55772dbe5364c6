/** Between two downloads that are started at once (spec, section 9). */
const downloadInterval = 100;

/** Starts the browser's own downloads, one after another: they go to disk as they come and never through the page's memory. */
export async function startDownloads(urls: readonly string[]): Promise<void> {
	for (const [index, url] of urls.entries()) {
		if (index > 0) await new Promise((resolve) => setTimeout(resolve, downloadInterval));
		clickLink(url);
	}
}

function clickLink(url: string): void {
	const link = document.createElement('a');
	link.href = url;
	// The answer is an attachment; the attribute keeps the page where it is if the server answers an error instead.
	link.download = '';
	link.rel = 'noopener';
	link.style.display = 'none';
	document.body.append(link);
	link.click();
	link.remove();
}
