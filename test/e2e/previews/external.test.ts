import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { basePath, desktop, phone } from '../support/browser.js';
import { eventually, gone } from '../support/expect.js';
import { holdRequest, rowOf, setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';
import { closePreview, openPreview, watchRequests } from '../support/previews.js';

const publicUrl = `https://files.example.org${basePath}`;
const fixture = withKeptContexts(setUpFixture(test, ['--external-viewers', 'true', '--public-url', publicUrl]));

const viewers = {
	'Office Online': 'https://view.officeapps.live.com/op/embed.aspx?src=',
	'Google Docs Viewer': 'https://docs.google.com/gview?embedded=true&url=',
} as const;

/** Answers in place of the external viewers; all other requests that would leave this machine are aborted. */
async function fakeViewers(page: Page, own: string): Promise<string[]> {
	const requested: string[] = [];
	await page.route(
		(url) => !url.href.startsWith(own) && /^https?:/.test(url.protocol),
		(route) => {
			const url = route.request().url();
			requested.push(url);
			if (!Object.values(viewers).some((address) => url.startsWith(address))) return route.abort();
			return route.fulfill({
				contentType: 'text/html; charset=utf-8',
				body: '<!doctype html><html lang="en"><title>Viewer</title><h1>The budget</h1></html>',
			});
		},
	);
	return requested;
}

const consents = async (t: ExecutionContext, viewport: typeof desktop) => {
	const app = await fixture.enter(t, { viewport, hasTouch: viewport === phone });
	await writeFiles(app.home, { 'budget 2026.xlsx': 'PK\x03\x04 a spreadsheet' });
	const page = await app.open('/browser?type=private');
	const requested = await fakeViewers(page, app.url);
	const linkRequests: unknown[] = [];
	page.on('request', (request) => {
		if (request.url().endsWith('/api/viewerLink')) linkRequests.push(request.postDataJSON());
	});
	const viewer = await openPreview(page, 'budget 2026.xlsx');
	const consent = page.getByRole('dialog', { name: 'Open in external viewer' });

	// No request leaves before the consent, nor after a refusal.
	await consent.getByText('budget 2026.xlsx will be sent to Office Online').waitFor();
	await assertAccessible(t, page, 'consent');
	await consent.getByRole('button', { name: 'Cancel' }).click();
	await consent.waitFor({ state: 'detached' });
	await viewer.getByText('Cannot preview xlsx file').waitFor();
	await assertAccessible(t, page, 'refused');
	t.deepEqual(linkRequests, []);
	t.deepEqual(requested, []);

	await viewer.getByRole('button', { name: 'Open in external viewer' }).click();
	await consent.getByRole('button', { name: 'Open in external viewer' }).click();
	const frame = viewer.frameLocator('iframe');
	await frame.getByText('The budget').waitFor();
	await viewer.getByText('Shown by Office Online').waitFor();
	const ground = viewer.locator('iframe').evaluate((element) => getComputedStyle(element).backgroundColor);
	t.is(await ground, 'rgb(255, 255, 255)', 'a viewer without a background gets a white one');
	await assertAccessible(t, page, 'shown by the external viewer');
	t.deepEqual(linkRequests, [{ path: 'budget 2026.xlsx', type: 'private' }]);
	t.is(requested.length, 1);
	const given = addressIn(t, requested[0], 'Office Online');
	t.regex(given, /^https:\/\/files\.example\.org(\/files)?\/api\/viewerLink\/[\w-]{43}\/budget%202026\.xlsx$/);
	// The link serves the file without a session.
	const answer = await fetch(`${new URL(app.url.replace('localhost', '127.0.0.1')).origin}${new URL(given).pathname}`);
	t.is(await answer.text(), 'PK\x03\x04 a spreadsheet');
	t.deepEqual((await app.context.request.get(`${app.url}/api/links`).then((links) => links.json())).links ?? [], []);

	// The other viewer needs a consent of its own, and gets another link.
	await viewer.getByRole('button', { name: 'Try alternative viewer' }).click();
	await consent.getByText('will be sent to Google Docs Viewer').waitFor();
	t.is(requested.length, 1);
	await consent.getByRole('button', { name: 'Open in external viewer' }).click();
	await viewer.getByText('Shown by Google Docs Viewer').waitFor();
	await frame.getByText('The budget').waitFor();
	const second = addressIn(t, requested[1], 'Google Docs Viewer');
	t.not(second, given);
	await closePreview(page);
	await rowOf(page, 'budget 2026.xlsx').and(page.locator(':focus')).waitFor();
	t.deepEqual(app.faults, []);
};

function addressIn(t: ExecutionContext, requested: string | undefined, viewer: keyof typeof viewers): string {
	const address = viewers[viewer];
	t.true(requested?.startsWith(address), requested);
	return decodeURIComponent(requested?.slice(address.length) ?? '');
}

test.serial(
	'an external viewer gets a document after the consent only, by a separate link, on a desktop',
	consents,
	desktop,
);
test.serial(
	'an external viewer gets a document after the consent only, by a separate link, on a phone',
	consents,
	phone,
);

test.serial(
	'Escape closes only the consent dialog, and a link that can’t be created is reported with the reason',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, { 'old.doc': 'a document' });
		const page = await app.open('/browser?type=private');
		const requested = await fakeViewers(page, app.url);
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
		const viewer = await openPreview(page, 'old.doc');
		const consent = page.getByRole('dialog', { name: 'Open in external viewer' });
		await consent.locator(':focus').waitFor();
		await page.keyboard.press('Escape');
		await consent.waitFor({ state: 'detached' });
		await viewer.getByText('Cannot preview doc file').waitFor();
		await viewer.getByRole('button', { name: 'Open in external viewer' }).click();
		await consent.getByRole('button', { name: 'Open in external viewer' }).click();
		await viewer.getByText('Too many documents were opened.').waitFor();
		await viewer.getByRole('link', { name: 'Download' }).first().waitFor();
		t.deepEqual(requested, []);
		t.deepEqual(app.faults, []);
	},
);

test.serial('what is cancelled while its link is being made is not sent', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'old.doc': 'a document' });
	const page = await app.open('/browser?type=private');
	const requested = await fakeViewers(page, app.url);
	const viewer = await openPreview(page, 'old.doc');
	const consent = page.getByRole('dialog', { name: 'Open in external viewer' });
	const release = await holdRequest(page, '**/api/viewerLink');
	const answered = page.waitForResponse('**/api/viewerLink');
	await consent.getByRole('button', { name: 'Open in external viewer' }).click();
	await consent.getByRole('button', { name: 'Cancel' }).click();
	await gone(t, consent);
	release();
	await answered;
	// It asks again, about the same viewer.
	await viewer.getByRole('button', { name: 'Open in external viewer' }).click();
	await consent.getByText('old.doc will be sent to Office Online').waitFor();
	t.deepEqual(requested, []);
	t.deepEqual(app.faults, []);
});

for (const [state, patch, sentence] of [
	['turned off', { externalViewers: false }, 'those are turned off on this server'],
	['without a public https address', { hasPublicHttps: false }, 'need a public https address'],
] as const) {
	test.serial(`external viewers ${state} are not offered, and the reason is shown`, async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.home, { 'slides.pptx': 'PK\x03\x04 slides' });
		const page = await app.open('/browser?type=private');
		const answer = await app.context.request.get(`${app.url}/api/capabilities`);
		const json = { ...(await answer.json()), ...patch };
		await page.route('**/api/capabilities', (route) => route.fulfill({ json }));
		await page.reload();
		const foreign = watchRequests(page, app.url);
		const viewer = await openPreview(page, 'slides.pptx');
		await viewer.getByText('Cannot preview pptx file').waitFor();
		await viewer.getByText(sentence).waitFor();
		await viewer.getByRole('link', { name: 'Download' }).first().waitFor();
		await eventually(t, () => page.getByRole('dialog').count(), 1);
		await assertAccessible(t, page, state);
		t.deepEqual(foreign, []);
		t.deepEqual(app.faults, []);
	});
}

test.serial('a server that can’t be asked for its external viewers is not said to have none', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'slides.pptx': 'PK\x03\x04 slides' });
	const page = await app.open('/browser?type=private');
	await page.route('**/api/capabilities', (route) => route.abort());
	await page.reload();
	const viewer = await openPreview(page, 'slides.pptx');
	const alert = viewer.getByRole('alert');
	await alert.getByText('Cannot preview pptx file').waitFor();
	await alert.getByText('Network error').waitFor();
	await gone(t, alert.getByText('turned off'));
	await page.unroute('**/api/capabilities');
	await alert.getByRole('button', { name: 'Try Again' }).click();
	await page.getByRole('dialog', { name: 'Open in external viewer' }).waitFor();
	// The browser logs what it could not load.
	t.deepEqual(
		app.faults.filter((fault) => !fault.includes('ERR_FAILED')),
		[],
	);
});
