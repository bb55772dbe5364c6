import { writeFile } from 'node:fs/promises';
import test from 'ava';
import { openStream } from '../openEvents.js';
import { Client, json } from '../testApp.js';
import { shareFixture } from './shareFixture.js';

test('the page of a share hears how far its ZIP is, and of nothing else', async (t) => {
	const { app, ada, home, share } = await shareFixture(t);
	const { guest, base } = await share(['docs']);
	const made = json(await guest.call('POST', '/downloadTickets', { files: [{ path: '' }] }));
	const others = json(await ada.post('/api/downloadTickets', { files: [{ path: 'other' }], type: 'private' }));
	const stream = await openStream(app, `${base}/events?ticket=${made.ticket}`);
	t.is(stream.status, 200);
	t.like(stream.headers, { 'content-type': 'text/event-stream; charset=utf-8', 'x-robots-tag': 'noindex' });
	await writeFile(home('other/new.txt'), 'new');
	await ada.get(others.url);
	t.is((await new Client(app).get(made.url)).statusCode, 200);
	const { size, ticket } = made;
	const { data } = await stream.next(({ data: { state } }) => state === 'done');
	t.deepEqual(data, { ticket, sent: size, size, state: 'done' });
	t.true(stream.events.every(({ event, data: { ticket: of } }) => event === 'ticket' && of === ticket));
	stream.close();
});

test('a download from a share that is cancelled ends for its stream too', async (t) => {
	const { app, share } = await shareFixture(t);
	const { guest, base } = await share(['docs']);
	const { ticket } = json(await guest.call('POST', '/downloadTickets', { files: [{ path: '' }] }));
	const stream = await openStream(app, `${base}/events?ticket=${ticket}`);
	t.is((await new Client(app).call('DELETE', `/api/downloadTickets/${ticket}`)).statusCode, 200);
	t.is((await stream.next(() => true)).data.state, 'ended');
	stream.close();
});

test('the stream of a share is refused as its other calls are, and ends with it', async (t) => {
	const { app, share, change } = await shareFixture(t);
	const { id, base } = await share(['docs']);
	const closed = await share(['docs'], { password: 'a secret horse' });
	t.is((await openStream(app, `${closed.base}/events`)).status, 401);
	t.is((await openStream(app, `${base.slice(0, -1)}_/events`)).status, 404);
	const stream = await openStream(app, `${base}/events`);
	await change(id, { isPaused: true });
	await stream.ended();
	t.is((await openStream(app, `${base}/events`)).status, 404);
});
