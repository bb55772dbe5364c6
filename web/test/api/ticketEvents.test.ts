import { events } from '@stowage/contract';
import test from 'ava';
import {
	publishTicketEvent,
	subscribedTickets,
	subscribeToTicket,
	subscribeToTicketList,
	type TicketEvent,
} from '../../src/api/events/ticketEvents.js';

const eventOf = (ticket: string): TicketEvent => ({ ticket, sent: 1, size: 2, state: 'sending' });

test.serial('an event of a ticket reaches its subscribers until they unsubscribe', (t) => {
	const received: string[] = [];
	const unsubscribeOne = subscribeToTicket('a', ({ ticket }) => received.push(`one ${ticket}`));
	const unsubscribeTwo = subscribeToTicket('a', ({ ticket }) => received.push(`two ${ticket}`));
	publishTicketEvent(eventOf('a'));
	publishTicketEvent(eventOf('b'));
	t.deepEqual(received, ['one a', 'two a']);
	unsubscribeOne();
	unsubscribeOne();
	publishTicketEvent(eventOf('a'));
	t.deepEqual(received, ['one a', 'two a', 'two a']);
	unsubscribeTwo();
	publishTicketEvent(eventOf('a'));
	t.is(received.length, 3);
});

test.serial('the list of subscribed tickets changes only when its tickets change', (t) => {
	let changes = 0;
	const unsubscribe = subscribeToTicketList(() => changes++);
	const before = subscribedTickets();
	t.deepEqual(before, []);
	const stop = subscribeToTicket('a', () => {});
	t.deepEqual(subscribedTickets(), ['a']);
	const stopAgain = subscribeToTicket('a', () => {});
	t.is(changes, 1);
	stop();
	t.deepEqual(subscribedTickets(), ['a']);
	stopAgain();
	t.deepEqual(subscribedTickets(), []);
	t.is(changes, 2);
	unsubscribe();
});

test.serial('the list of subscribed tickets is limited to the latest ones that an event stream may name', (t) => {
	const stops = Array.from({ length: 40 }, (_, n) => subscribeToTicket(`ticket ${n}`, () => {}));
	const named = events.query.parse({ ticket: [...subscribedTickets()] }).ticket;
	t.is(named.length, 32);
	t.is(named.at(-1), 'ticket 39');
	for (const stop of stops.slice(20)) stop();
	t.is(subscribedTickets().at(0), 'ticket 0');
	for (const stop of stops) stop();
	t.deepEqual(subscribedTickets(), []);
});
