import path from 'node:path';
import test from 'ava';
import { until } from '../../../packages/core/test/until.js';
import { basePath, plainName } from '../support/browser.js';
import { setUpFixture, writeFiles } from '../support/fileManager.js';

const fixture = setUpFixture(test);

const script = 'document.title = "it ran"; fetch("/api/createFolder?it-ran"); parent.postMessage("it ran", "*");';

/** Files that a browser would run if it trusted their types. */
const bodies: Record<string, string> = {
	'page.html': `<!doctype html><script>${script}</script><img src=x onerror='${script}'>`,
	'page.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml"><script>${script}</script></html>`,
	'drawing.svg': `<svg xmlns="http://www.w3.org/2000/svg" onload='${script}'><script>${script}</script></svg>`,
	'feed.xml': `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>${script}</script></html>`,
	'code.js': script,
	'photo.jpg': `<html><script>${script}</script></html>`,
	'notes.txt': `<html><script>${script}</script></html>`,
	'book.pdf': `%PDF-1.4\n<html><script>${script}</script></html>`,
	'false.pdf': `<html><script>${script}</script></html>`,
	noextension: `<html><script>${script}</script></html>`,
};

test.serial('uploaded files never run, by navigation or as a script, frame, embed or object', async (t) => {
	const { context, files, origin } = await fixture.enter(t, { isVisitor: true });
	await writeFiles(path.join(files, 'Public'), bodies);
	const ran: string[] = [];
	context.on('request', (request) => {
		if (request.url().includes('it-ran')) ran.push(request.url());
	});
	for (const base of [origin, plainName(origin)]) {
		const page = await context.newPage();
		for (const name of Object.keys(bodies)) {
			for (const query of ['', '?inline=1']) {
				// A download ends the navigation, which is fine too.
				await page
					.goto(`${base}/api/download/${name}${query}`)
					.catch((error: Error) => t.regex(error.message, /Download is starting|ERR_ABORTED/));
				if ((await page.title()) === 'it ran') ran.push(`${name}${query}`);
			}
		}
		await page.close();
		const app = await context.newPage();
		/** Addresses whose element has loaded or failed, or whose answer became a download, of which a frame is not notified. */
		const ended = new Set<string>();
		app.on('download', (download) => ended.add(new URL(download.url()).href));
		await app.exposeFunction('hasEnded', (address: string) => ended.add(new URL(address, base).href));
		await app.goto(base);
		await app.evaluate(
			([below, ...names]) => {
				const { hasEnded } = window as unknown as { hasEnded(address: string): void };
				for (const name of names) {
					for (const [tag, attribute] of [
						['script', 'src'],
						['iframe', 'src'],
						['embed', 'src'],
						['object', 'data'],
					] as const) {
						const element = document.createElement(tag);
						const address = `${below}/api/download/${name}?inline=1&as=${tag}`;
						element.setAttribute(attribute, address);
						for (const end of ['load', 'error']) element.addEventListener(end, () => hasEnded(address));
						document.addEventListener('securitypolicyviolation', ({ blockedURI }) => {
							if (blockedURI.endsWith(address)) hasEnded(address);
						});
						document.body.append(element);
					}
				}
			},
			[basePath, ...Object.keys(bodies)],
		);
		await until('each element has ended', async () => ended.size === 4 * Object.keys(bodies).length);
		t.not(await app.title(), 'it ran');
		await app.close();
	}
	t.deepEqual(ran, []);
});
