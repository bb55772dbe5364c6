import type { ExecutionContext } from 'ava';
import { until } from '../packages/core/test/until.js';
import type { JobPair } from './jobServers.js';
import { pageEvents } from './pageEvents.js';
import type { ServerProcess } from './serverProcess.js';

/** Two server processes over one database and one data folder; a page is connected to one, all calls go to the other. */
export async function eventsAcross(t: ExecutionContext, { one: a, two: b }: JobPair): Promise<void> {
	const cookie = await a.register('events');
	const call = async (method: string, address: string, body?: string | FormData, by = cookie) => {
		const json: Record<string, string> = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
		const init = body === undefined ? {} : { body };
		const answer = await fetch(`${a.url}/api/${address}`, { method, headers: { cookie: by, ...json }, ...init });
		if (!answer.ok) throw new Error(`${method} ${address}: ${await answer.text()}`);
		return answer;
	};
	const upload = async (name: string) => {
		const form = new FormData();
		form.append('file', new Blob(['x'.repeat(100_000)]), name);
		await call('POST', 'upload', form);
	};

	// Like a page that subscribed long ago, and one that names a ticket.
	const page = await pageEvents(b, cookie);
	await upload('a.bin');
	await until('the page gets an event of an upload', () => page.received.some(({ event }) => event === 'changed'));
	await upload('b.bin');
	const selection = { files: [{ path: 'a.bin' }, { path: 'b.bin' }], type: 'private', directory: '' };
	const made = await call('POST', 'downloadTickets', JSON.stringify(selection));
	const { ticket, url, size } = (await made.json()) as { ticket: string; url: string; size: number };
	t.is((await (await fetch(a.url + url)).arrayBuffer()).byteLength, size);
	const isDone = ({ event, data }: (typeof page.received)[0]) =>
		event === 'ticket' && data.ticket === ticket && data.state === 'done' && data.sent === size;
	await until('the page gets the last event of its download', () => page.received.some(isDone));
	const late = await pageEvents(b, cookie, `type=private&ticket=${ticket}`);
	await until('a page that opens later gets the last event, too', () => late.received.some(isDone));
	await late.close();

	const other = await signIn(a, 'events');
	t.false(page.isEnded());
	await call('DELETE', 'sessions', undefined, other);
	await until('the event stream of a session that was ended at the other process ends', () => page.isEnded());
}

async function signIn({ url }: ServerProcess, username: string): Promise<string> {
	const answer = await fetch(`${url}/api/login`, {
		method: 'POST',
		headers: { 'content-type': 'application/json' },
		body: JSON.stringify({ username, password: 'correct horse' }),
	});
	return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}
