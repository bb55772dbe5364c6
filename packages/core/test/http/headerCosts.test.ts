import test from 'ava';
import { processorMs, usualMs } from '../../../../test/processorTime.js';
import { Client, field, file, testApp } from '../testApp.js';

/** The longest that a header may be, with room for the other ones. */
const bytes = 30_000;

/** What hapi, its parts or the server read of a request for a picture. */
const headers = [
	...[
		'accept',
		'accept-encoding',
		'accept-language',
		'content-type',
		'cookie',
		'forwarded',
		'host',
		'origin',
		'prefer',
	],
	...['if-match', 'if-modified-since', 'if-none-match', 'if-range', 'if-unmodified-since', 'range', 'referer'],
	...['user-agent', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-prefix', 'x-forwarded-proto', 'x-request-id'],
];

/** What is repeated in them; one of them is not ASCII, and white space all the same. */
const fragments = [' ', '\t', '\u00A0', 'a', '0', ',', ' ,', '=', ' =', ';', 'a;', '"', '/', 'a/', '-', '0-', '(', '*'];

/** With the square of its length a header takes more than half a second, otherwise a few milliseconds. */
const maxMs = 250;

/** Of three where the first is over the bound, since other work of this process is counted as well. */
async function leastMs(ask: () => Promise<unknown>): Promise<number> {
	let ms = await processorMs(ask);
	for (let tries = 2; tries > 0 && ms > maxMs; tries--) ms = Math.min(ms, await usualMs(ask));
	return ms;
}

test('no header takes longer than a time that grows with its length, also where the response has an ETag', async (t) => {
	t.timeout(300_000);
	const app = await testApp(t);
	app.server.providers.renderer.register('fake', {
		version: '1',
		accepts: (_kind, extension) => extension === 'toy',
		async render() {
			const picture = Buffer.alloc(100);
			picture.write('RIFF\x5C\0\0\0WEBP', 'latin1');
			return picture;
		},
	});
	const visitor = new Client(app);
	await visitor.upload('/api/upload/public', [field('directory', ''), file('a.toy', 'x')]);
	const url = '/api/thumbnail/a.toy?type=public&owner=anonymous&size=256';
	const { statusCode, headers: answered } = await visitor.get(url);
	t.is(statusCode, 200);
	t.truthy(answered.etag);
	const slow: string[] = [];
	for (const name of headers) {
		for (const fragment of fragments) {
			const value = `a${fragment.repeat(bytes / fragment.length)}b`;
			const ms = await leastMs(() => visitor.get(url, { [name]: value }));
			if (ms > maxMs) slow.push(`${name} of ${JSON.stringify(fragment)}: ${ms.toFixed()} ms`);
		}
	}
	t.deepEqual(slow, []);
});

test('no address in a request line takes longer than a time that grows with its length, in whatever form', async (t) => {
	const app = await testApp(t);
	const visitor = new Client(app);
	const slow: string[] = [];
	for (const origin of ['', 'http://nas', 'x://nas']) {
		for (const fragment of ['a&', '&', '=', 'a', '%41', '?', '../']) {
			const address = `${origin}/api/health?${fragment.repeat(bytes / fragment.length)}`;
			const ms = await leastMs(() => visitor.get(address));
			if (ms > maxMs) slow.push(`${origin} with ${fragment}: ${ms.toFixed()} ms`);
		}
	}
	t.deepEqual(slow, []);
});
