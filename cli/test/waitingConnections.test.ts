import type { Socket } from 'node:net';
import test from 'ava';
import { WaitingConnections } from '../src/workers/WaitingConnections.js';

interface Connection {
	address: string;
	isOpen: boolean;
}

/** Connections that wait, and those that were made for them. */
function waitingConnections() {
	const waiting = new WaitingConnections({ addressOf: (socket) => (socket as unknown as Connection).address });
	const made: Connection[] = [];
	return {
		waiting,
		open(count: number, address: string) {
			for (let n = 0; n < count; n++) {
				const destroy = () => {
					connection.isOpen = false;
				};
				const connection = { address, isOpen: true, destroy };
				made.push(connection);
				waiting.add(connection as unknown as Socket);
			}
		},
		openOf: (address: string) => made.filter((each) => each.address === address && each.isOpen).length,
		next() {
			const { address } = waiting.first as unknown as Connection;
			waiting.removeFirst();
			return address;
		},
	};
}

test('connections of one address delay those of others by one each', (t) => {
	const { open, next, waiting } = waitingConnections();
	open(3, '192.0.2.1');
	open(1, '192.0.2.2');
	open(1, '2001:db8::1');
	t.deepEqual(
		[next(), next(), next(), next(), next()],
		['192.0.2.1', '192.0.2.2', '2001:db8::1', '192.0.2.1', '192.0.2.1'],
	);
	t.is(waiting.first, undefined);
});

test('the networks of one IPv6 site wait as one, and where all have as many the newest is closed', (t) => {
	const { open, openOf, next } = waitingConnections();
	open(1, '192.0.2.1');
	for (let n = 1; n <= 1000; n++) open(1, `2001:db8:1:${n.toString(16)}::1`);
	t.deepEqual([openOf('192.0.2.1'), openOf('2001:db8:1:1::1'), openOf('2001:db8:1:3e8::1')], [1, 1, 0]);
	open(1, '192.0.2.2');
	t.deepEqual([openOf('192.0.2.2'), openOf('2001:db8:1:3e7::1')], [1, 0]);
	t.deepEqual([next(), next(), next()], ['192.0.2.1', '2001:db8:1:1::1', '192.0.2.2']);

	const others = waitingConnections();
	for (let n = 0; n < 1001; n++) others.open(1, `10.0.${n >> 8}.${n & 255}`);
	t.deepEqual([others.openOf('10.0.0.0'), others.openOf('10.0.3.232')], [1, 0]);
	t.is(others.next(), '10.0.0.0');
});

test('where too many wait, those are closed whose address has the most', (t) => {
	const { open, openOf, waiting } = waitingConnections();
	open(5, '192.0.2.2');
	open(2000, '192.0.2.1');
	open(5, '192.0.2.3');
	t.deepEqual([openOf('192.0.2.1'), openOf('192.0.2.2'), openOf('192.0.2.3')], [990, 5, 5]);
	waiting.destroyAll();
	t.is(openOf('192.0.2.1') + openOf('192.0.2.2') + openOf('192.0.2.3'), 0);
	t.is(waiting.first, undefined);
});
