import type { NewsItem } from '@stowage/plugin-api';
import test from 'ava';
import { createNews } from '../src/news.js';

const about = (ticket: string, sent: number): NewsItem => ({ kind: 'ticket', ticket, sent, size: 9, state: 'sending' });
const inAWhile = () => new Promise((resolve) => setImmediate(resolve));

test('whoever comes late hears where a ticket stood, once, and then what comes', async (t) => {
	const news = createNews();
	for (const sent of [1, 2]) news.send({ ticket: 'a' }, about('a', sent));
	news.send({ ticket: 'b' }, about('b', 5));
	const heard: NewsItem[] = [];
	const unhear = news.listen({ ticket: 'a' }, (item) => heard.push(item));
	t.deepEqual(heard, [], 'not before the listener is ready');
	await inAWhile();
	t.deepEqual(heard, [about('a', 2)]);
	news.send({ ticket: 'a' }, about('a', 3));
	unhear();
	news.send({ ticket: 'a' }, about('a', 4));
	t.deepEqual(heard, [about('a', 2), about('a', 3)]);
});

test('somebody who has left before that hears nothing', async (t) => {
	const news = createNews();
	news.send({ ticket: 'a' }, about('a', 1));
	news.listen({ ticket: 'a' }, () => t.fail())();
	await inAWhile();
	t.pass();
});

test('where a ticket stood is forgotten after a while, and what a person was told is not kept', async (t) => {
	let now = 0;
	const news = createNews(() => now);
	news.send({ ticket: 'a' }, about('a', 1));
	news.send({ userId: '1' }, about('a', 1));
	now += 11 * 60_000;
	news.send({ ticket: 'b' }, about('b', 1));
	const heard: NewsItem[] = [];
	for (const audience of [{ ticket: 'a' }, { ticket: 'b' }, { userId: '1' }])
		news.listen(audience, (item) => heard.push(item));
	await inAWhile();
	t.deepEqual(heard, [about('b', 1)]);
});
