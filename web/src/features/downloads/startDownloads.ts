/** The pause between the starts of two downloads (spec, section 9). */
const downloadIntervalMs = 100;

/** Starts downloads by the browser, one after another. They are streamed to disk and never held in the page's memory. */
export async function startDownloads(urls: readonly string[]): Promise<void> {
	for (const [index, url] of urls.entries()) {
		if (index > 0) await new Promise((resolve) => setTimeout(resolve, downloadIntervalMs));
		clickLink(url);
	}
}

function clickLink(url: string): void {
	const link = document.createElement('a');
	link.href = url;
	// The response is an attachment. For an error response the attribute keeps the browser from leaving the page.
	link.download = '';
	link.rel = 'noopener';
	link.style.display = 'none';
	document.body.append(link);
	link.click();
	link.remove();
}
