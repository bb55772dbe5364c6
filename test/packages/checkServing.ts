import type { ExecutionContext } from 'ava';

/** A black square of 2 by 2. */
const png = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAC0lEQVR4nGNgQAYAAA4AAamRc7EAAAAASUVORK5CYII=',
	'base64',
);

/** Loads the page, uploads a picture and fetches its thumbnail. */
export async function checkServing(t: ExecutionContext, url: string): Promise<void> {
	const page = await (await fetch(url)).text();
	const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(page) ?? [];
	t.is((await fetch(new URL(script, `${url}/`))).status, 200, 'the script of the page is served');
	const form = new FormData();
	form.append('file', new Blob([png]), 'square.png');
	t.is((await fetch(`${url}/api/upload/public`, { method: 'POST', body: form })).status, 200);
	const thumbnail = await fetch(`${url}/api/thumbnail/square.png?size=256`);
	t.is(thumbnail.headers.get('content-type'), 'image/webp', await thumbnail.clone().text());
}
