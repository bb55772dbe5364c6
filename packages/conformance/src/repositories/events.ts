import { type Rule, second } from './rules.js';

/** Events that processes publish to the pages at other processes. */
export function eventRules(assertThat: Rule): void {
	const minute = 60 * second;
	const event = (number: number) => ({ number, payload: `event ${number}` });

	assertThat('events of other processes are read in their order, up to an age', async (t, { events }, clock) => {
		await events.add('one', [event(1), event(2)]);
		clock.now += 2 * second;
		await events.add('two', [event(1)]);
		await events.add('one', [event(10), event(11)]);
		const read = async (ms: number, except: string) =>
			(await events.latest(ms, except)).map(({ process, number, payload }) => `${process} ${number} ${payload}`);
		t.deepEqual(await read(minute, 'two'), ['one 1 event 1', 'one 2 event 2', 'one 10 event 10', 'one 11 event 11']);
		t.deepEqual(await read(second, 'two'), ['one 10 event 10', 'one 11 event 11']);
		t.deepEqual(await read(minute, 'one'), ['two 1 event 1']);
		t.is((await events.latest(minute, 'three')).length, 5);
		await events.add('one', []);
		t.is((await events.latest(minute, 'three')).length, 5);
	});

	assertThat('more events than fit into one statement are all added', async (t, { events }) => {
		await events.add(
			'one',
			Array.from({ length: 450 }, (_, number) => event(number)),
		);
		t.deepEqual(
			(await events.latest(minute, 'two')).map(({ number }) => number),
			Array.from({ length: 450 }, (_, number) => number),
		);
	});

	assertThat('events of processes that publish concurrently are all added', async (t, { events }) => {
		const processes = Array.from({ length: 8 }, (_, n) => `process ${n}`);
		await Promise.all(
			processes.map(async (process) => {
				for (let number = 1; number <= 10; number++) await events.add(process, [event(number)]);
			}),
		);
		t.is((await events.latest(minute, 'another')).length, 80);
	});

	assertThat(
		'a listening process is listed until its registration expires or is removed',
		async (t, { events }, clock) => {
			t.deepEqual(await events.listeners(minute, 'one'), []);
			await events.listen('one', false);
			await events.listen('two', true);
			t.deepEqual(await events.listeners(minute, 'one'), [{ process: 'two', pollsFolders: true }]);
			t.deepEqual(await events.listeners(minute, 'three'), [
				{ process: 'one', pollsFolders: false },
				{ process: 'two', pollsFolders: true },
			]);
			clock.now += 50 * second;
			await events.listen('one', true);
			clock.now += 20 * second;
			t.deepEqual(await events.listeners(minute, 'three'), [{ process: 'one', pollsFolders: true }]);
			await events.unlisten('one');
			await events.unlisten('unknown');
			t.deepEqual(await events.listeners(minute, 'three'), []);
		},
	);

	assertThat(
		'old events and listeners are swept, also those of a clock that was set back',
		async (t, { events }, clock) => {
			await events.add('one', [event(1), event(2)]);
			await events.listen('one', false);
			const ages = { eventsMs: minute, listenersMs: minute };
			t.is(await events.sweep(ages), 0);
			clock.now += 2 * minute;
			await events.add('two', [event(1)]);
			await events.listen('two', false);
			t.is(await events.sweep({ ...ages, listenersMs: 3 * minute }), 2);
			t.is(await events.sweep(ages), 1);
			t.is((await events.latest(minute, 'three')).length, 1);
			clock.now -= 5 * minute;
			t.deepEqual(await events.latest(minute, 'three'), []);
			t.deepEqual(await events.listeners(minute, 'three'), []);
			t.is(await events.sweep(ages), 2);
		},
	);
}
