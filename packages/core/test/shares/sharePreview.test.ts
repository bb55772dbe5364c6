import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { Client, json } from '../testApp.js';
import { until } from '../until.js';
import { shareFixture } from './shareFixture.js';

const template = `<!doctype html><html><head><meta name="description" content="Stowage stores files." />
<title>Stowage</title><script nonce="__NONCE__" src="__BASE_HREF__assets/x.js"></script></head></html>`;

/** A server with the page. */
async function previewed(t: ExecutionContext) {
	const webRoot = await mkdtemp(path.join(os.tmpdir(), 'stowage-web-'));
	t.teardown(() => rm(webRoot, { recursive: true }));
	await mkdir(path.join(webRoot, 'assets'));
	await writeFile(path.join(webRoot, 'index.html'), template);
	const fixture = await shareFixture(t, {}, { webRoot });
	const page = ({ base }: { base: string }, below = '') =>
		new Client(fixture.app).get(`${base.replace('/api/share/', '/s/')}${below}`);
	return { ...fixture, page };
}

const contentOf = (html: string, property: string): string | undefined =>
	[...html.matchAll(/<meta (?:name|property)="([^"]*)" content="([^"]*)">/g)].find(
		([, name]) => name === property,
	)?.[2];

test('the page of a share says what it is to programs that run no script, which no search engine keeps', async (t) => {
	const { share, page, ada } = await previewed(t);
	const shared = await share(['docs'], { title: 'Our trip', message: 'All pictures.\n\nSee you!' });
	const answer = await page(shared);
	t.is(answer.statusCode, 200);
	t.regex(answer.payload, /<title>Our trip<\/title>/);
	t.is(contentOf(answer.payload, 'og:title'), 'Our trip');
	t.is(contentOf(answer.payload, 'og:description'), 'All pictures. See you!');
	t.is(contentOf(answer.payload, 'description'), 'All pictures. See you!');
	t.false(answer.payload.includes('Stowage stores files.'));
	t.is(answer.headers['x-robots-tag'], 'noindex');
	t.is(answer.headers['referrer-policy'], 'no-referrer');
	t.is(answer.headers['cache-control'], 'no-store');
	t.is((await page(shared, '/deep')).payload.includes('<title>Our trip</title>'), true);
	t.is(answer.headers['set-cookie'], undefined);
	t.like(json(await ada.get(`/api/shares/${shared.id}`)), { downloads: 0, bytesSent: 0 });
});

test('what its owner calls a share is text in the page, whatever it has in it', async (t) => {
	const { share, page } = await previewed(t);
	const title = '"><script>alert(1)</script>$& __NONCE__';
	const { payload } = await page(await share(['docs/fox.txt'], { title, message: `</title>'"$1` }));
	const escaped = '&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;$&#38; __NONCE__';
	t.is(contentOf(payload, 'og:title'), escaped);
	t.true(payload.includes(`<title>${escaped}</title>`));
	t.is(contentOf(payload, 'og:description'), '&#60;/title&#62;&#39;&#34;$1');
	t.is(payload.match(/<script/g)?.length, 1);
});

test('a share without a title is known by its only item, or by its owner', async (t) => {
	const { share, page } = await previewed(t);
	const one = await page(await share(['docs/fox.txt']));
	t.is(contentOf(one.payload, 'og:title'), 'fox.txt');
	t.is(contentOf(one.payload, 'og:description'), '1 item from ada');
	t.is(contentOf(one.payload, 'og:image'), undefined);
	const several = await page(await share(['docs/fox.txt', 'other']));
	t.is(contentOf(several.payload, 'og:title'), 'Shared by ada');
	t.is(contentOf(several.payload, 'og:description'), '2 items from ada');
});

test('the name of a folder that only receives is shown to nobody', async (t) => {
	const { ada, home, share, page } = await previewed(t);
	await mkdir(home('for the lawyer'));
	const shared = await share(['for the lawyer'], { mode: 'upload' });
	const { payload } = await page(shared);
	t.is(contentOf(payload, 'og:title'), 'Send files to ada');
	const looked = await shared.guest.get('');
	t.is(json(looked).title, '');
	t.false(`${payload}${looked.payload}`.includes('lawyer'));
	t.is(json(await ada.get(`/api/shares/${shared.id}`)).items[0].path, 'for the lawyer', 'its owner sees it');
});

test('the page of a share with a password says nothing of it, also to who has opened it', async (t) => {
	const { share, page } = await previewed(t);
	const shared = await share(['docs'], { title: 'Our trip', message: 'Secret!', password: 'a secret horse' });
	t.is((await shared.guest.call('POST', '/open', { password: 'a secret horse' })).statusCode, 200);
	const { payload, statusCode } = await page(shared);
	t.is(statusCode, 200);
	t.is(contentOf(payload, 'og:title'), 'Shared files');
	t.notRegex(payload, /trip|Secret|ada|fox/);
});

test('the page of a share that does not answer says so by its status, and shows the same for each reason', async (t) => {
	const { share, page, change, home } = await previewed(t);
	const shared = await share(['docs'], { title: 'Our trip' });
	await change(shared.id, { isPaused: true });
	const paused = await page(shared);
	t.is(paused.statusCode, 404);
	t.regex(paused.payload, /<script/);
	t.notRegex(paused.payload, /trip|ada/);
	const unknown = await page({ base: `/api/share/${'x'.repeat(43)}` });
	const withoutNonce = (html: string) => html.replace(/nonce="[^"]*"/, '');
	t.is(withoutNonce(unknown.payload), withoutNonce(paused.payload));
	t.is((await page({ base: '/api/share/$&' })).statusCode, 404);
	const gone = await share(['other']);
	await rm(home('other'), { recursive: true });
	t.is((await page(gone)).statusCode, 404);
});

test('a share that only receives files tells nothing of what is in its folder', async (t) => {
	const { share, page } = await previewed(t);
	const { payload } = await page(await share(['docs'], { mode: 'upload' }));
	t.is(contentOf(payload, 'og:description'), 'Files for ada');
	t.notRegex(payload, /fox/);
});

const robots = [
	'WhatsApp/2.23.20.0',
	'TelegramBot (like TwitterBot)',
	'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
	'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
	'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
	'Twitterbot/1.0',
	'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)',
	'Mozilla/5.0 (compatible; SkypeUriPreview Preview/0.5)',
	'Signal-Android/6.0 WhatsApp/2',
	'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) facebookexternalhit/1.1 Facebot Twitterbot/1.0',
];

test('chat programs that show a preview of an address use up nothing of the share, whoever sends it on', async (t) => {
	const { app, ada, share } = await previewed(t);
	const once = await share(['docs/fox.txt'], { maxDownloads: 1, title: 'Just once' });
	const closed = await share(['docs'], { title: 'Our trip', message: 'Secret!', password: 'a secret horse' });
	const ask = async ({ base }: { base: string }, agent: string, method: string, more: Record<string, string> = {}) => {
		const address = new URL(base.replace('/api/share/', '/s/'), app.server.info.uri);
		const answer = await fetch(address, { method, headers: { 'user-agent': agent, accept: '*/*', ...more } });
		return { status: answer.status, text: await answer.text(), cookie: answer.headers.get('set-cookie') };
	};
	for (const agent of robots) {
		for (const more of [{}, { range: 'bytes=0-65535' }] as Record<string, string>[]) {
			const { status, text, cookie } = await ask(once, agent, 'GET', more);
			t.deepEqual([status, contentOf(text, 'og:title'), cookie], [200, 'Just once', null], agent);
			const hidden = await ask(closed, agent, 'GET', more);
			t.deepEqual([hidden.status, contentOf(hidden.text, 'og:title')], [200, 'Shared files'], agent);
			t.is(contentOf(hidden.text, 'og:image'), undefined);
			t.notRegex(hidden.text, /trip|Secret|ada|fox|docs/);
		}
		t.deepEqual(await ask(once, agent, 'HEAD'), { status: 200, text: '', cookie: null });
		const file = new URL(`${once.base}/download/fox.txt`, app.server.info.uri);
		t.is((await fetch(file, { method: 'HEAD', headers: { 'user-agent': agent } })).status, 200);
		const guessed = new URL(`${closed.base}/thumbnail/fox.txt?size=256`, app.server.info.uri);
		t.is((await fetch(guessed, { headers: { 'user-agent': agent } })).status, 401);
	}
	for (const { id } of [once, closed])
		t.like(json(await ada.get(`/api/shares/${id}`)), { downloads: 0, bytesSent: 0, lastUsedAt: null, state: 'active' });
	t.is((await once.guest.get('/download/fox.txt')).payload, 'The quick brown fox');
	await until('it is used up', async () => (await ask(once, robots[0] as string, 'GET')).status === 410);
});
