import { events } from '@stowage/contract';
import test from 'ava';
import {
	followedTickets,
	followTicket,
	subscribeFollowedTickets,
	type TicketNews,
	tellTicket,
} from '../../src/api/events/ticketEvents.js';

const news = (ticket: string): TicketNews => ({ ticket, sent: 1, size: 2, state: 'sending' });

test.serial('news of a ticket reaches those who follow it, until they stop', (t) => {
	const heard: string[] = [];
	const stopOne = followTicket('a', ({ ticket }) => heard.push(`one ${ticket}`));
	const stopTwo = followTicket('a', ({ ticket }) => heard.push(`two ${ticket}`));
	tellTicket(news('a'));
	tellTicket(news('b'));
	t.deepEqual(heard, ['one a', 'two a']);
	stopOne();
	stopOne();
	tellTicket(news('a'));
	t.deepEqual(heard, ['one a', 'two a', 'two a']);
	stopTwo();
	tellTicket(news('a'));
	t.is(heard.length, 3);
});

test.serial('the list of followed tickets changes only when there are others', (t) => {
	let changes = 0;
	const unsubscribe = subscribeFollowedTickets(() => changes++);
	const before = followedTickets();
	t.deepEqual(before, []);
	const stop = followTicket('a', () => {});
	t.deepEqual(followedTickets(), ['a']);
	const stopAgain = followTicket('a', () => {});
	t.is(changes, 1);
	stop();
	t.deepEqual(followedTickets(), ['a']);
	stopAgain();
	t.deepEqual(followedTickets(), []);
	t.is(changes, 2);
	unsubscribe();
});

test.serial('of more tickets than a stream may ask for, the last ones are named', (t) => {
	const stops = Array.from({ length: 40 }, (_, n) => followTicket(`ticket ${n}`, () => {}));
	const asked = events.query.parse({ ticket: [...followedTickets()] }).ticket;
	t.is(asked.length, 32);
	t.is(asked.at(-1), 'ticket 39');
	for (const stop of stops.slice(20)) stop();
	t.is(followedTickets().at(0), 'ticket 0');
	for (const stop of stops) stop();
	t.deepEqual(followedTickets(), []);
});
