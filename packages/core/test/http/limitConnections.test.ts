import { EventEmitter } from 'node:events';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import test from 'ava';
import { limitConnections } from '../../src/http/connections/limitConnections.js';

interface Connection extends EventEmitter {
	address: string;
	isOpen: boolean;
	isBusy: boolean;
}

/** Connections of a server that has 20 at most, of one address 10. */
function connections() {
	const listener = new EventEmitter();
	const of = (socket: Socket) => socket as unknown as Connection;
	limitConnections(
		listener as Server,
		{ perAddress: () => 10, total: () => 20 },
		{ addressOf: (socket) => of(socket).address, isTrusted: (address) => address === '127.0.0.1' },
		(socket) => !of(socket).isBusy,
	);
	return (address: string, isBusy = false): Connection => {
		const connection: Connection = Object.assign(new EventEmitter(), {
			...{ address, isBusy, isOpen: true },
			destroy() {
				connection.isOpen = false;
				setImmediate(() => connection.emit('close'));
			},
		});
		listener.emit('connection', connection);
		return connection;
	};
}

const many = (count: number, make: (n: number) => Connection) => Array.from({ length: count }, (_, n) => make(n));
const openOf = (all: readonly Connection[]) => all.filter(({ isOpen }) => isOpen).length;

test('above the total, who comes takes the place of an idle one of the address with the most', (t) => {
	const open = connections();
	const first = many(10, (n) => open('192.0.2.1', n > 3));
	const second = many(10, () => open('192.0.2.2', true));
	const newcomer = open('192.0.2.3');
	t.true(newcomer.isOpen);
	t.deepEqual([openOf(first), openOf(second)], [9, 10]);
	t.false(first[3]?.isOpen, 'the newest idle one');
	const others = many(3, (n) => open(`192.0.2.${4 + n}`));
	t.is(openOf(others), 3);
	t.deepEqual([openOf(first), openOf(second)], [6, 10], 'no request is broken off while there are idle ones');
	t.true(open('192.0.2.8').isOpen);
	t.deepEqual([openOf(first), openOf(second)], [6, 9]);
	t.false(second[9]?.isOpen, 'the newest, where none is idle');
	newcomer.emit('close');
	t.true(open('192.0.2.4').isOpen);
	t.deepEqual([openOf(first), openOf(second)], [6, 9]);
});

test('the networks of one IPv6 site give way as one, and where none has more the new one is closed', (t) => {
	const open = connections();
	const site = many(18, (n) => open(`2001:db8:1:${n}::1`));
	const others = [open('192.0.2.1'), open('192.0.2.2')];
	t.false(open('2001:db8:1:99::1').isOpen);
	const newcomers = many(30, (n) => open(`10.0.0.${n}`));
	// What remains is of addresses with one each.
	t.deepEqual([openOf(site), openOf(others), openOf(newcomers)], [1, 2, 17]);
});

test('connections of trusted proxies never give way to others', (t) => {
	const open = connections();
	const proxy = many(15, () => open('127.0.0.1'));
	const first = many(5, () => open('192.0.2.1'));
	t.true(open('192.0.2.2').isOpen);
	t.true(open('127.0.0.1').isOpen);
	t.deepEqual([openOf(proxy), openOf(first)], [15, 3]);
});
