import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { clean } from '../support/axe.js';
import { basePath, desktop, phone } from '../support/browser.js';
import { rowOf, setUpFixture, writeFiles } from '../support/fileManager.js';
import { leave, show, watchRequests } from '../support/previews.js';

const publicUrl = `https://files.example.org${basePath}`;
const fixture = setUpFixture(test, ['--external-viewers', 'true', '--public-url', publicUrl]);

const viewers = {
	'Office Online': 'https://view.officeapps.live.com/op/embed.aspx?src=',
	'Google Docs Viewer': 'https://docs.google.com/gview?embedded=true&url=',
} as const;

/** Answers in place of the companies whose viewers they are; what else would leave this machine is cut off. */
async function standIn(page: Page, own: string): Promise<string[]> {
	const handed: string[] = [];
	await page.route(
		(url) => !url.href.startsWith(own) && /^https?:/.test(url.protocol),
		(route) => {
			const url = route.request().url();
			handed.push(url);
			if (!Object.values(viewers).some((address) => url.startsWith(address))) return route.abort();
			return route.fulfill({
				contentType: 'text/html; charset=utf-8',
				body: '<!doctype html><html lang="en"><title>Viewer</title><h1>The budget</h1></html>',
			});
		},
	);
	return handed;
}

const consents = async (t: ExecutionContext, viewport: typeof desktop) => {
	const app = await fixture.enter(t, { viewport, hasTouch: viewport === phone });
	await writeFiles(app.home, { 'budget 2026.xlsx': 'PK\x03\x04 a spreadsheet' });
	const page = await app.open('/browser?type=private');
	const handed = await standIn(page, app.url);
	const made: unknown[] = [];
	page.on('request', (request) => {
		if (request.url().endsWith('/api/viewerLink')) made.push(request.postDataJSON());
	});
	const viewer = await show(page, 'budget 2026.xlsx');
	const consent = page.getByRole('dialog', { name: 'Open in external viewer' });

	// Nothing goes out before a yes, nor after a no.
	await consent.getByText('budget 2026.xlsx will be sent to Office Online').waitFor();
	await clean(t, page, 'consent');
	await consent.getByRole('button', { name: 'Cancel' }).click();
	await consent.waitFor({ state: 'detached' });
	await viewer.getByText('Cannot preview xlsx file').waitFor();
	await clean(t, page, 'refused');
	t.deepEqual(made, []);
	t.deepEqual(handed, []);

	await viewer.getByRole('button', { name: 'Open in external viewer' }).click();
	await consent.getByRole('button', { name: 'Open in external viewer' }).click();
	const frame = viewer.frameLocator('iframe');
	await frame.getByText('The budget').waitFor();
	await viewer.getByText('Shown by Office Online').waitFor();
	const ground = viewer.locator('iframe').evaluate((element) => getComputedStyle(element).backgroundColor);
	t.is(await ground, 'rgb(255, 255, 255)', 'a page that sets none has the ground it counts on');
	await clean(t, page, 'shown by another');
	t.deepEqual(made, [{ path: 'budget 2026.xlsx', type: 'private' }]);
	t.is(handed.length, 1);
	const given = addressIn(t, handed[0], 'Office Online');
	t.regex(given, /^https:\/\/files\.example\.org(\/files)?\/api\/viewerLink\/[\w-]{43}\/budget%202026\.xlsx$/);
	// It is the very file, without a session.
	const answer = await fetch(`${new URL(app.url.replace('localhost', '127.0.0.1')).origin}${new URL(given).pathname}`);
	t.is(await answer.text(), 'PK\x03\x04 a spreadsheet');
	t.deepEqual((await app.context.request.get(`${app.url}/api/links`).then((links) => links.json())).links ?? [], []);

	// The other viewer is asked for by its own name, and gets a link of its own.
	await viewer.getByRole('button', { name: 'Try alternative viewer' }).click();
	await consent.getByText('will be sent to Google Docs Viewer').waitFor();
	t.is(handed.length, 1);
	await consent.getByRole('button', { name: 'Open in external viewer' }).click();
	await viewer.getByText('Shown by Google Docs Viewer').waitFor();
	await frame.getByText('The budget').waitFor();
	const second = addressIn(t, handed[1], 'Google Docs Viewer');
	t.not(second, given);
	await leave(page);
	await rowOf(page, 'budget 2026.xlsx').and(page.locator(':focus')).waitFor();
	t.deepEqual(app.faults, []);
};

function addressIn(t: ExecutionContext, handed: string | undefined, viewer: keyof typeof viewers): string {
	const address = viewers[viewer];
	t.true(handed?.startsWith(address), handed);
	return decodeURIComponent(handed?.slice(address.length) ?? '');
}

test.serial(
	'a document goes to another company’s viewer after a yes, by a link of its own (desktop)',
	consents,
	desktop,
);
test.serial('a document goes to another company’s viewer after a yes, by a link of its own (phone)', consents, phone);

test.serial('Escape in the question closes the question only, and a link that can’t be made says why', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'old.doc': 'a document' });
	const page = await app.open('/browser?type=private');
	const handed = await standIn(page, app.url);
	await page.route('**/api/viewerLink', (route) =>
		route.fulfill({
			status: 429,
			json: {
				statusCode: 429,
				code: 'RATE_LIMITED',
				error: 'Too Many Requests',
				message: 'Too many documents were opened.',
			},
		}),
	);
	const viewer = await show(page, 'old.doc');
	const consent = page.getByRole('dialog', { name: 'Open in external viewer' });
	await consent.locator(':focus').waitFor();
	await page.keyboard.press('Escape');
	await consent.waitFor({ state: 'detached' });
	await viewer.getByText('Cannot preview doc file').waitFor();
	await viewer.getByRole('button', { name: 'Open in external viewer' }).click();
	await consent.getByRole('button', { name: 'Open in external viewer' }).click();
	await viewer.getByText('Too many documents were opened.').waitFor();
	await viewer.getByRole('link', { name: 'Download' }).first().waitFor();
	t.deepEqual(handed, []);
	t.deepEqual(app.faults, []);
});

for (const [why, patch, sentence] of [
	['turned off', { externalViewers: false }, 'those are turned off on this server'],
	['without a public https address', { hasPublicHttps: false }, 'need a public https address'],
] as const) {
	test.serial(`external viewers ${why} ask nobody for consent`, async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, { 'slides.pptx': 'PK\x03\x04 slides' });
		const page = await app.open('/browser?type=private');
		const answer = await app.context.request.get(`${app.url}/api/capabilities`);
		const json = { ...(await answer.json()), ...patch };
		await page.route('**/api/capabilities', (route) => route.fulfill({ json }));
		await page.reload();
		const foreign = watchRequests(page, app.url);
		const viewer = await show(page, 'slides.pptx');
		await viewer.getByText('Cannot preview pptx file').waitFor();
		await viewer.getByText(sentence).waitFor();
		await viewer.getByRole('link', { name: 'Download' }).first().waitFor();
		t.is(await page.getByRole('dialog').count(), 1);
		await clean(t, page, why);
		t.deepEqual(foreign, []);
		t.deepEqual(app.faults, []);
	});
}
