import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test from 'ava';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../../packages/core/test/until.js';
import { basePath, plainName } from '../support/browser.js';
import { absent } from '../support/expect.js';
import { nameIn, overlaysClosed, setUpFixture, writeFiles } from '../support/fileManager.js';
import { book, paragraph, pdf, word } from '../support/previewFiles.js';
import { closePreview, openPreview, recorded, watchRequests } from '../support/previews.js';
import { openStranger, share } from '../support/shares.js';

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

test.serial(
	'what a stranger looks at on the page of a share runs nothing, requests nothing and sends no address of the share',
	async (t) => {
		const ada = await fixture.enter(t);
		const asked: IncomingHttpHeaders[] = [];
		const elsewhere = createServer((request, response) => {
			asked.push(request.headers);
			response.end('elsewhere');
		}).listen(0, '127.0.0.1');
		await once(elsewhere, 'listening');
		t.teardown(() => elsewhere.close());
		const foreign = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
		const run = 'document.title = "it ran"; fetch("/it-ran")';
		const html = `<script>${run}</script><img src=x onerror='${run}'><img src="${foreign}/a.png"><a href="${foreign}/link">a link</a>`;
		const hyperlink = `<Relationship Id="h1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink" Target="${foreign}/docx" TargetMode="External"/>`;
		await writeFiles(ada.home, {
			'all/a.svg': `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60" onload='${run}'><script>${run}</script><image href="${foreign}/b.png"/></svg>`,
			'all/b.html': html,
			'all/c.md': `# Notes\n\n${html}\n\n[to elsewhere](${foreign}/markdown) ![p](${foreign}/c.png) [run](javascript:${encodeURIComponent(run)})`,
			'all/d.epub': book({
				chapters: {
					'c1.xhtml': `<h1>Hostile</h1><script>${run}</script><img src="${foreign}/d.png"/><a href="${foreign}/epub">out</a>`,
				},
			}),
			'all/e.docx': word({
				body: `${paragraph('Dear reader')}<w:p><w:hyperlink r:id="h1"><w:r><w:t>a way out</w:t></w:r></w:hyperlink></w:p>`,
				relations: hyperlink,
			}),
			'all/f.pdf': pdf({ pages: 1, catalogue: '/OpenAction << /S /JavaScript /JS (app.alert\\(1\\);) >>' }),
		});
		const shared = await share(ada, { items: ['all'] });
		const { page, faults } = await openStranger(t, shared);
		const own = new URL(page.url()).origin;
		const requests = watchRequests(page, own);
		page.on('request', (request) => request.url().includes('it-ran') && requests.push(request.url()));
		page.on('dialog', (dialog) => {
			requests.push(dialog.message());
			void dialog.dismiss();
		});
		const frame = page.frameLocator('iframe');
		/** Follows a link, which opens a tab of its own. */
		const follow = async (link: Locator, where: string) => {
			const before = page.url();
			const [tab] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
			await until(`${where} was asked for`, async () => asked.length > 0);
			t.is(await tab.evaluate(() => [String(window.opener), document.referrer].join()), 'null,', where);
			await tab.close();
			t.is(page.url(), before);
			for (const { referer, cookie } of asked.splice(0)) t.deepEqual([referer, cookie], [undefined, undefined], where);
		};

		const drawing = await openPreview(page, 'a.svg');
		await drawing.getByRole('img', { name: 'a.svg' }).waitFor();
		await closePreview(page);
		const source = await openPreview(page, 'b.html');
		await source.getByText('<script>').first().waitFor();
		await absent(t, source.getByRole('link', { name: 'a link' }));
		await closePreview(page);
		const notes = await openPreview(page, 'c.md');
		await notes.getByRole('button', { name: 'Rendered' }).click();
		await notes.getByRole('heading', { name: 'Notes' }).waitFor();
		t.deepEqual(asked, []);
		await follow(notes.getByRole('link', { name: 'to elsewhere' }), 'notes');
		await closePreview(page);
		await openPreview(page, 'd.epub');
		await frame.getByRole('heading', { name: 'Hostile' }).waitFor();
		await follow(frame.getByText('out', { exact: true }), 'a book');
		await closePreview(page);
		await openPreview(page, 'e.docx');
		await follow(frame.getByText('a way out'), 'a letter');
		await closePreview(page);
		await openPreview(page, 'f.pdf');
		await frame.getByText('Page 1 of the paper').waitFor();
		await closePreview(page);
		t.deepEqual(asked, []);
		t.deepEqual(requests, []);
		t.notRegex(await page.title(), /it ran/);
		t.deepEqual(faults, []);
	},
);

test.serial(
	'a name that turns the direction of letters is seen as it is where it is shared, linked and copied',
	async (t) => {
		const ada = await fixture.enter(t);
		const turned = 'a\u202Egpj.exe';
		const seen = 'a\uFFFDgpj.exe';
		await writeFiles(ada.home, { [turned]: 'a program', 'to/b.txt': 'b' });
		const stranger = await openStranger(t, await share(ada, { items: [turned] }));
		await stranger.page.getByRole('heading', { level: 1, name: seen }).waitFor();
		const page = await ada.open('/browser?type=private');
		await page.evaluate(
			async ([base, path]) => {
				const send = (url: string, body: object) =>
					fetch(`${base}${url}`, {
						method: 'POST',
						headers: { 'content-type': 'application/json' },
						body: JSON.stringify(body),
					});
				await send('/api/jobs', { kind: 'copy', type: 'private', directory: 'to', items: [{ path }] });
			},
			[ada.url, turned] as const,
		);
		await page.getByRole('button', { name: 'Activity' }).click();
		await page.getByText(`Copy ${seen} to to`, { exact: true }).waitFor();
		t.deepEqual(stranger.faults, []);
	},
);

/** The texts and labels of the page in which something turns the direction of letters. */
function turnedTexts(page: Page): Promise<string[]> {
	return page.evaluate(() => {
		const texts = [document.title];
		const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (nodes.nextNode()) texts.push(nodes.currentNode.nodeValue ?? '');
		for (const element of document.querySelectorAll('[title], [aria-label], [alt]'))
			for (const label of ['title', 'aria-label', 'alt']) texts.push(element.getAttribute(label) ?? '');
		return texts.filter((text) => /[\u202A-\u202E\u2066-\u2069]/.test(text));
	});
}

test.serial('a name that turns the direction of letters is so in no dialog, viewer, error and title', async (t) => {
	const ada = await fixture.enter(t);
	const named = (extension: string) => `a\u202E${extension}.${extension}`;
	const seen = (extension: string) => `a\uFFFD${extension}.${extension}`;
	const sine = ['-f', 'lavfi', '-i', 'sine=d=1'];
	await writeFiles(path.join(ada.home, 'd\u202Er'), {
		[named('txt')]: 'a text',
		[named('wav')]: await recorded('wav', ...sine),
		[named('mp4')]: 'no film',
		[named('pdf')]: pdf({ pages: 1 }),
		[named('doc')]: 'a document',
	});
	const page = await ada.open(`/browser/${encodeURIComponent('d\u202Er')}?type=private`);
	await nameIn(page, seen('txt')).waitFor();
	const isClean = async (where: string) => t.deepEqual(await turnedTexts(page), [], where);
	await isClean('the list');

	await nameIn(page, seen('txt')).click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Temporary Link' }).click();
	const link = page.getByRole('dialog', { name: 'Temporary Link' });
	await link.getByText(seen('txt'), { exact: true }).waitFor();
	await isClean('the form of a link');
	await link.getByRole('button', { name: 'Generate Link' }).click();
	await link.getByLabel('Link', { exact: true }).waitFor();
	await isClean('a new link');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);

	for (const extension of ['wav', 'mp4', 'pdf', 'doc']) {
		const viewer = await openPreview(page, seen(extension));
		if (extension === 'wav') await viewer.locator('audio').waitFor({ state: 'attached' });
		else if (extension === 'pdf') await viewer.locator('iframe').waitFor();
		else await viewer.getByRole('link', { name: 'Download' }).first().waitFor();
		await isClean(`the viewer of ${extension}`);
		await closePreview(page);
	}

	const viewer = await openPreview(page, seen('txt'));
	await viewer.getByRole('button', { name: 'Edit', exact: true }).click();
	await viewer.getByRole('textbox', { name: `Text of ${seen('txt')}` }).waitFor();
	await page.keyboard.insertText('letters');
	await page.keyboard.press('Escape');
	await page.getByText(`${seen('txt')} has changes that are not saved.`).waitFor();
	await isClean('the question of the editor');
	await page.getByRole('button', { name: 'Discard', exact: true }).click();

	await page.getByRole('dialog', { name: 'Unsaved changes' }).waitFor({ state: 'detached' });
	await page.goto(`${ada.url}/browser?type=private`);
	await nameIn(page, 'd\uFFFDr').click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Rename' }).click();
	await page.getByRole('textbox', { name: 'New name' }).fill('b\u202Er');
	await writeFiles(ada.home, { 'b\u202Er/c.txt': 'c' });
	await page.getByRole('button', { name: 'Rename', exact: true }).click();
	await page.getByRole('alert').getByText('b\uFFFDr').waitFor();
	await isClean('what the server refuses');
	t.deepEqual(ada.faults, []);
});

test.serial(
	'what a visitor has uploaded under a name of which nothing is seen has one in the list, and opens',
	async (t) => {
		const { files, open, faults } = await fixture.enter(t, { isVisitor: true });
		await writeFiles(path.join(files, 'Public'), { '\u200B\u2060/inside.txt': 'a text' });
		const page = await open('/browser?type=public');
		await nameIn(page, '\uFFFD\uFFFD').click();
		await nameIn(page, 'inside.txt').waitFor();
		await page.getByRole('navigation').getByText('\uFFFD\uFFFD', { exact: true }).waitFor();
		t.deepEqual(faults, []);
	},
);
