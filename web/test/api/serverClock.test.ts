import test from 'ava';
import { learnServerTime, serverNow } from '../../src/api/client/serverClock.js';

const day = 24 * 60 * 60_000;
/** An answer of a server whose clock is ahead of this one's. */
const answerOf = (ahead: number) =>
	new Response(null, { headers: { date: new Date(Date.now() + ahead).toUTCString() } });
const isAhead = (by: number) => Math.abs(serverNow() - Date.now() - by) <= 1000;

// What was learned belongs to the process.
test.serial('the time on the server is learned from its answers, and clocks that agree do', (t) => {
	t.is(serverNow() - Date.now(), 0);
	learnServerTime(answerOf(0), Date.now());
	t.is(serverNow() - Date.now(), 0, 'its seconds are rounded down');
	learnServerTime(new Response(null), Date.now());
	learnServerTime(new Response(null, { headers: { date: 'now' } }), Date.now());
	t.is(serverNow() - Date.now(), 0, 'an answer without a time says nothing');
	for (const ahead of [-10 * day, 2 * day, 0]) {
		learnServerTime(answerOf(ahead), Date.now());
		t.true(isAhead(ahead), `${ahead}`);
		const known = serverNow() - Date.now();
		learnServerTime(answerOf(ahead), Date.now() - 5000);
		t.is(serverNow() - Date.now(), known, 'an answer that took long changes nothing that it allows for');
	}
});
