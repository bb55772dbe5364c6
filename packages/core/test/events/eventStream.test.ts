import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Notification, Viewer } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { EventStream } from '../../src/events/EventStream.js';
import { EventStreams } from '../../src/events/EventStreams.js';
import { until } from '../until.js';

/** A page's connection, whose client reads at once, or only when it is told to. */
class Connection extends Duplex {
	readonly writes: string[] = [];
	isReading = true;
	#waiting: (() => void)[] = [];

	override _write(chunk: Buffer, _encoding: string, done: () => void): void {
		this.writes.push(chunk.toString());
		if (this.isReading) done();
		else this.#waiting.push(done);
	}

	override _read(): void {}

	read_(): void {
		this.isReading = true;
		for (const done of this.#waiting.splice(0)) done();
	}

	setTimeout(): void {}

	get text(): string {
		return this.writes.join('');
	}
}

function openStream(t: ExecutionContext, connection = new Connection()) {
	const response = new ServerResponse(new IncomingMessage(new Socket()));
	response.assignSocket(connection as unknown as Socket);
	const stream = new EventStream(response, () => {});
	t.teardown(() => response.destroy());
	return { stream, connection, response };
}

const stateOf = (ticket: string, sent: number): Notification => ({
	...{ kind: 'ticket', ticket, sent, size: 1e9, state: 'sending' },
});

test('a client that reads nothing is kept the last state of each download, and gets it when it reads', async (t) => {
	const { stream, connection, response } = openStream(t);
	connection.isReading = false;
	const long = 'A'.repeat(43);
	for (let sent = 0; sent < 20_000; sent++) for (const ticket of ['a', 'b']) stream.send(stateOf(long + ticket, sent));
	await until('more is written', () => {
		stream.send(stateOf(`${long}a`, 20_000));
		return response.writableLength > 0;
	});
	t.true(response.writableLength < 64 * 1024, `${response.writableLength}`);
	connection.read_();
	await until('the last states arrive', () => connection.text.includes('"sent":20000'));
	t.true(connection.text.includes(`${long}b","sent":19999`));
	t.true(connection.text.length < 64 * 1024, `${connection.text.length}`);
});

test('what is new of many downloads is written together, a few times a second', async (t) => {
	const { stream, connection } = openStream(t);
	const before = connection.writes.length;
	const tickets = Array.from({ length: 32 }, (_, n) => `ticket ${n}`);
	for (let sent = 0; sent < 50; sent++) for (const ticket of tickets) stream.send(stateOf(ticket, sent));
	await until('the last state of each arrives', () =>
		tickets.every((each) => connection.text.includes(`"${each}","sent":49`)),
	);
	// The head, the time to reconnect and each of the chunks may be several writes to the connection.
	t.true(connection.writes.length - before <= 8, connection.writes.join('|'));
	t.true(connection.text.includes('"ticket 0","sent":0'), 'the first one is not delayed');
	t.is(connection.text.match(/^event:/gm)?.length, 33);
});

test('an event is serialised once for all streams', async (t) => {
	let count = 0;
	const event = stateOf('a', 1);
	Object.defineProperty(event, 'size', { enumerable: true, get: () => ++count });
	const opened = Array.from({ length: 5 }, () => openStream(t));
	for (const { stream } of opened) stream.send(event);
	await until('all have it', () => opened.every(({ connection }) => connection.text.includes('"size":1,')));
	t.is(count, 1);
});

test('what is new is sent before a stream ends', async (t) => {
	const { stream, connection } = openStream(t);
	for (const sent of [1, 2]) stream.send(stateOf('a', sent));
	stream.send({ kind: 'changed', type: 'private', directory: '' });
	stream.end();
	stream.send(stateOf('a', 3));
	await until('it has ended', () => connection.writableEnded);
	t.deepEqual(
		connection.text.match(/^(event|data): .*$/gm)?.map((line) => line.replace(/"size".*/, '')),
		['event: ticket', 'data: {"ticket":"a","sent":1,', 'event: ticket', 'data: {"ticket":"a","sent":2,'].concat([
			'event: changed',
			'data: {"type":"private","directory":""}',
		]),
	);
});

const visitor: Viewer = { kind: 'anonymous', access: 'upload' };

test('visitors of one network of IPv6, and those who follow one ticket, have so many streams', (t) => {
	const streams = new EventStreams((limit) => limit);
	const enter = (address: string, ...tickets: string[]) =>
		streams.enter({ viewer: visitor, client: { address } } as never, tickets, () => {});
	const isRefused = (address: string, ...tickets: string[]) =>
		t.true(
			isFailure(
				t.throws(() => enter(address, ...tickets)),
				'rateLimited',
			),
		);
	const leaves = Array.from({ length: 128 }, (_, n) => enter(`2001:db8:1:${n.toString(16)}::1`));
	isRefused('2001:db8:1:ffff::1');
	enter('2001:db8:2::1');
	leaves[0]?.();
	leaves[0]?.();
	enter('2001:db8:1:ffff::1');
	isRefused('2001:db8:1:ffff::1');

	const followers = Array.from({ length: 32 }, (_, n) => enter(`10.0.0.${n}`, 'one', `other ${n}`));
	isRefused('10.0.1.1', 'one');
	isRefused('10.0.1.1', 'new', 'one');
	enter('10.0.1.1', 'new');
	followers[5]?.();
	enter('10.0.1.1', 'one');
	isRefused('10.0.1.1', 'one');
});

test('where there are as many streams as may be, the newest of who has most ends; visitors have half of them', (t) => {
	const streams = new EventStreams((limit) => limit);
	const ended: string[] = [];
	const enter = (viewer: object, address: string) =>
		streams.enter({ viewer, client: { address } } as never, [], () => ended.push(address));
	// Sixteen sites have 125 each.
	for (let n = 0; n < 2000; n++) enter(visitor, `2001:db8:${(n % 16).toString(16)}:${n.toString(16)}::1`);
	t.deepEqual(ended, []);
	enter(visitor, '203.0.113.1');
	t.is(ended.length, 1);
	t.regex(ended[0] ?? '', /^2001:db8:/);
	const full = [...ended];
	t.true(
		isFailure(
			t.throws(() => enter(visitor, full[0] as string)),
			'rateLimited',
		),
		'its site has as many as any',
	);
	t.is(ended.length, 1);
	// Accounts have the other half, and more: whoever has most makes room.
	for (let n = 0; n < 2000; n++) enter({ kind: 'user', id: `${n % 200}` }, 'account');
	t.is(ended.length, 1);
	enter({ kind: 'user', id: 'another' }, 'account');
	t.is(ended.length, 2);
	t.not(ended[1], 'account');
	streams.endAll();
	t.is(ended.length, 2 + 4000);
});
