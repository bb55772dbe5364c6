import { randomUUID } from 'node:crypto';
import type { IdempotencyRecord } from '@stowage/plugin-api';
import { day, type Rule } from './rules.js';

const key = 'a'.repeat(64);

function recordOf(...stagedIds: string[]): IdempotencyRecord {
	return { stagedIds, revision: randomUUID() };
}

/** The record that all attempts with one idempotency key share. */
export function idempotencyRules(assertThat: Rule): void {
	assertThat('an idempotency key keeps the record that claimed it first', async (t, { idempotency }) => {
		const first = recordOf('s1', 's2');
		t.deepEqual(await idempotency.putIfAbsent(key, first), first);
		t.deepEqual(await idempotency.putIfAbsent(key, recordOf('s3')), first);
		const large = recordOf(...Array.from({ length: 1000 }, (_, n) => `${n}`.padStart(100, 's')));
		t.deepEqual(await idempotency.putIfAbsent('b'.repeat(64), large), large);
		t.deepEqual(await idempotency.putIfAbsent(key, large), first);
	});

	assertThat('many concurrent claims of one idempotency key all get the same record', async (t, { idempotency }) => {
		const records = await Promise.all(
			Array.from({ length: 8 }, (_, n) => idempotency.putIfAbsent(key, recordOf(`${n}`))),
		);
		t.is(new Set(records.map(({ revision }) => revision)).size, 1);
		for (const record of records) t.deepEqual(record, records[0]);
	});

	assertThat(
		'only one of many concurrent replacements of an idempotency record succeeds',
		async (t, { idempotency }) => {
			const seen = await idempotency.putIfAbsent(key, recordOf('s1'));
			const other = await idempotency.putIfAbsent('b'.repeat(64), recordOf('s1'));
			const next = Array.from({ length: 8 }, (_, n) => recordOf(`new ${n}`));
			const done = await Promise.all(next.map((record) => idempotency.replace(key, seen.revision, record)));
			t.is(done.filter(Boolean).length, 1);
			t.deepEqual(await idempotency.putIfAbsent(key, seen), next[done.indexOf(true)]);
			t.false(await idempotency.replace(key, seen.revision, recordOf('late')));
			t.false(await idempotency.replace('c'.repeat(64), seen.revision, recordOf('unknown')));
			t.deepEqual(await idempotency.putIfAbsent('b'.repeat(64), seen), other);
		},
	);

	assertThat('an idempotency key is free again once its old record was swept', async (t, { idempotency }, clock) => {
		await idempotency.putIfAbsent(key, recordOf('s1'));
		const renewed = recordOf('s2');
		const { revision } = await idempotency.putIfAbsent('b'.repeat(64), recordOf('s3'));
		clock.now += day;
		await idempotency.replace('b'.repeat(64), revision, renewed);
		t.is(await idempotency.sweep(clock.now - day), 0);
		t.is(await idempotency.sweep(clock.now - day + 1), 1);
		const next = recordOf('s4');
		t.deepEqual(await idempotency.putIfAbsent(key, next), next);
		t.deepEqual(await idempotency.putIfAbsent('b'.repeat(64), next), renewed);
	});

	assertThat('the planned name of a staged file is found until it is swept', async (t, { publishedNames }, clock) => {
		const name = '😀'.repeat(63);
		await publishedNames.set('s1', 'a (1)');
		await publishedNames.set('s1', name);
		await publishedNames.set('S1', 'other');
		t.is(await publishedNames.find('s1'), name);
		t.is(await publishedNames.find('s2'), undefined);
		clock.now += day;
		await publishedNames.set('S1', 'other still');
		t.is(await publishedNames.sweep(clock.now), 1);
		t.is(await publishedNames.find('s1'), undefined);
		t.is(await publishedNames.find('S1'), 'other still');
	});
}
