import type { NewJob, TicketRecord, UploadRecord } from '@stowage/plugin-api';
import { parsePath } from '@stowage/rules';
import test from 'ava';
import { userStore } from '../src/stores/accounts/users.js';
import { jobStore } from '../src/stores/coordination/jobs/jobStore.js';
import { idempotencyStore } from '../src/stores/files/idempotency.js';
import { publishedNameStore } from '../src/stores/files/publishedNames.js';
import { ticketStore } from '../src/stores/files/tickets.js';
import { uploadStore } from '../src/stores/files/uploads.js';
import { openEmpty } from './emptyDatabase.js';

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

function uploadOf(userId: string | null, at: number): UploadRecord {
	return {
		...{ stagedId: `s${at}`, userId, address: '192.0.2.1', area: 'private', directory: parsePath(''), name: 'a' },
		...{
			mtime: null,
			onConflict: { kind: 'rename' },
			metadata: '',
			length: 1,
			offset: 1,
			entryPath: null,
			itemId: null,
		},
		...{ received: null, startedAt: at, touchedAt: at, expiresAt: 1e6 },
	};
}

test('of the uploads that a user has finished the last are remembered, and none of others is forgotten for them', async (t) => {
	const knex = await openEmpty(t);
	const uploads = uploadStore(knex, { ofUser: 4, removedTogether: 3, ofAll: 100 });
	const finish = async (id: string, upload: UploadRecord) => {
		await uploads.add(id, upload);
		await uploads.finish(id, upload.stagedId ?? '', 'a', '');
	};
	await finish('of bob', uploadOf('bob', 1));
	await finish('of a visitor', uploadOf(null, 2));
	await finish('received', uploadOf('ada', 3));
	await knex('uploads').where({ id_hash: 'received' }).update({ share_id: 'share' });
	await uploads.add('going on', uploadOf('ada', 4));
	for (const at of numbers(9)) await finish(`${at}`, uploadOf('ada', 10 + at));
	const kept: string[] = [];
	for (const id of ['of bob', 'of a visitor', 'received', 'going on', ...numbers(9).map(String)])
		if ((await uploads.find(id)) !== undefined) kept.push(id);
	t.deepEqual(kept, ['of bob', 'of a visitor', 'received', 'going on', '3', '4', '5', '6', '7', '8']);
	t.is(await uploads.countUserUploads('ada'), 1);
});

test('an upload that is published long after its bytes have come is the last that its user has finished', async (t) => {
	const uploads = uploadStore(await openEmpty(t), { ofUser: 4, removedTogether: 3, ofAll: 100 });
	await uploads.add('late', uploadOf('ada', 1));
	const finish = async (at: number) => {
		await uploads.add(`${at}`, uploadOf('ada', at));
		await uploads.finish(`${at}`, `s${at}`, 'a', '');
	};
	for (const at of numbers(6)) await finish(10 + at);
	await uploads.finish('late', 's1', 'a', '');
	t.truthy(await uploads.find('late'));
	t.is(await uploads.find('12'), undefined);
	for (const at of numbers(2)) await finish(20 + at);
	t.truthy(await uploads.find('late'));
});

test('of all uploads that have ended the last are remembered, and of those that go on all', async (t) => {
	const uploads = uploadStore(await openEmpty(t), { ofUser: 100, removedTogether: 100, ofAll: 3 });
	for (const at of numbers(6)) {
		await uploads.add(`${at}`, uploadOf(null, at));
		if (at > 0) await uploads.finish(`${at}`, `s${at}`, 'a', '');
	}
	t.is(await uploads.forget(0), 2);
	const found = await Promise.all(numbers(6).map((at) => uploads.find(`${at}`)));
	t.deepEqual(
		found.flatMap((upload) => upload?.touchedAt ?? []),
		[0, 3, 4, 5],
	);
});

function ticketOf(holder: string, at: number): TicketRecord {
	return { holder, details: 'd', selection: 's', bytes: 10, isEnded: false, endsAt: 1000 + at, expiresAt: 2000 + at };
}

test('of the ended tickets of a holder the last are remembered, and of all holders too', async (t) => {
	const clock = { now: 0 };
	const tickets = ticketStore(await openEmpty(t), () => clock.now, { ofHolder: 4, removedTogether: 3, ofAll: 5 });
	const isThere = async (token: string) => (await tickets.find(token)) !== undefined;
	await tickets.add('kept', ticketOf('visitor a', 0));
	for (const at of numbers(9)) {
		await tickets.add(`${at}`, ticketOf('visitor a', at));
		await tickets.end([`${at}`]);
	}
	t.deepEqual(await Promise.all(['kept', '0', '2', '3', '8'].map(isThere)), [true, false, false, true, true]);
	t.is(await tickets.countBytes('visitor '), 10);
	clock.now = 1000;
	t.is(await tickets.sweep(), 2);
	t.deepEqual(await Promise.all(['kept', '3', '4', '8'].map(isThere)), [false, false, true, true]);
});

test('a ticket that has just ended is remembered, however old it is', async (t) => {
	const tickets = ticketStore(await openEmpty(t), () => 0, { ofHolder: 4, removedTogether: 3, ofAll: 100 });
	const names = ['old', ...numbers(6).map(String)];
	for (const [at, name] of names.entries()) await tickets.add(name, ticketOf('visitor a', at));
	for (const name of names.toReversed()) await tickets.end([name]);
	t.deepEqual([...(await tickets.findEnded(names))].sort(), ['3', '4', '5', 'old']);
});

test('what is kept ready is counted, and looked through for what is over, without reading tickets that have ended', async (t) => {
	const knex = await openEmpty(t);
	const tickets = ticketStore(knex, () => 5000);
	// By the thousand, as one address makes them in a day.
	await knex.raw(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 3000)
		insert into tickets (token_hash, holder, facts, selection, bytes, is_ended, ends_at, expires_at)
		select n, 'visitor a', 'd', 's', 10, 0, 4000, 9000 from numbers`);
	t.is(await tickets.countBytes('visitor '), 30_000);
	await tickets.sweep();
	t.is(await tickets.countBytes('visitor '), 0);
	const [row] = await knex('tickets')
		.where('holder', '>=', 'visitor ')
		.where('holder', '<', 'visitor ~')
		.count({ n: '*' });
	t.is(row?.n, 0);
	const [left] = await knex('tickets').where('ends_at', '>', 0).count({ n: '*' });
	t.is(left?.n, 0);
});

test('of upload keys, and of the names of files whose names were taken, the last are remembered', async (t) => {
	const clock = { now: 0 };
	const knex = await openEmpty(t);
	const keys = idempotencyStore(knex, () => clock.now, 3);
	const names = publishedNameStore(knex, () => clock.now, 3);
	for (clock.now = 1; clock.now <= 5; clock.now++) {
		await keys.putIfAbsent(`${clock.now}`, { revision: `r${clock.now}`, stagedIds: [] });
		await names.set(`${clock.now}`, 'a');
	}
	t.is(await keys.sweep(0), 2);
	t.is(await names.sweep(0), 2);
	t.deepEqual(await knex('idempotency_keys').orderBy('written_at').pluck('key_hash'), ['3', '4', '5']);
	t.is(await names.find('2'), undefined);
	t.is(await names.find('3'), 'a');
});

const jobOf = (id: string, userId: string): NewJob => ({
	...{ id, kind: 'copy', userId, network: '192.0.2.1', title: 'Copy', input: '{}', onRestart: 'resume' },
	...{ isLong: false, isOrdered: false },
});

test('of the ended jobs of a user the last are kept as others are added, and none of others is forgotten for them', async (t) => {
	const clock = { now: 0 };
	const knex = await openEmpty(t);
	const users = userStore(knex, () => 0);
	const [ada, bob] = [
		await users.add({ username: 'ada', secret: 's' }),
		await users.add({ username: 'bob', secret: 's' }),
	];
	const jobs = jobStore(knex, () => clock.now, { ofUser: 4, removedTogether: 3 });
	const most = { jobs: 100, bytes: 1e6 };
	const fail = async (id: string, userId: string) => {
		clock.now++;
		await jobs.add(jobOf(id, userId), most);
		const run = { id, holder: 'one', epoch: 1 };
		t.truthy(await jobs.claim(run, 'copy#0', 10_000));
		await jobs.end(run, { status: 'failed', error: 'no', detail: '"x"' });
	};
	await fail('of bob', bob.id);
	await jobs.add(jobOf('waits', ada.id), most);
	for (const n of numbers(7)) await fail(`${n}`, ada.id);
	const ids = async () => (await jobs.list(100)).map(({ id }) => id).sort();
	t.deepEqual(await ids(), [...numbers(7).map(String), 'of bob', 'waits']);
	await fail('7', ada.id);
	t.deepEqual(await ids(), ['3', '4', '5', '6', '7', 'of bob', 'waits']);
});

test('ended jobs of a user by the ten thousand are removed by one sweep, and some as each further one is added', async (t) => {
	const knex = await openEmpty(t);
	const ada = await userStore(knex, () => 0).add({ username: 'ada', secret: 's' });
	const jobs = jobStore(knex, () => 1e6);
	await jobs.add(jobOf('first', ada.id), { jobs: 1, bytes: 1e6 });
	await jobs.cancel('first');
	const columns = Object.keys(await knex('jobs').first()).filter((name) => !['id', 'end_time'].includes(name));
	await knex.raw(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 11000)
		insert into jobs (id, end_time, ${columns.join()}) select n, n, ${columns.join()} from numbers, jobs`);
	const count = async () => Number((await knex('jobs').count({ n: '*' }))[0]?.n);
	await jobs.add(jobOf('next', ada.id), { jobs: 1, bytes: 1e6 });
	t.true((await count()) < 11_000);
	await jobs.sweep(0, 200);
	t.is(await count(), 201);
	t.deepEqual((await jobs.list(2)).map(({ id }) => id).sort(), ['11000', 'first', 'next']);
});

test('a waiting job that a former version has added has a network of its user’s own', async (t) => {
	const knex = await openEmpty(t);
	const users = userStore(knex, () => 0);
	const [ada, bob, carl] = [
		await users.add({ username: 'ada', secret: 's' }),
		await users.add({ username: 'bob', secret: 's' }),
		await users.add({ username: 'carl', secret: 's' }),
	];
	const jobs = jobStore(knex, () => 0);
	const most = { jobs: 10, bytes: 1000 };
	for (const { id, username } of [ada, bob, carl])
		for (const n of [1, 2]) await jobs.add(jobOf(`${username}${n}`, id), most);
	await knex('jobs').whereIn('user_id', [ada.id, bob.id]).update({ network: null });
	const order: string[] = [];
	let after = '';
	for (let n = 0; n < 6; n++) {
		const next = await jobs.next('copy', { after });
		const run = { id: next?.id ?? '', holder: 'one', epoch: 1 };
		t.truthy(await jobs.claim(run, 'copy#0', 1000));
		await jobs.end(run, { status: 'failed', error: 'no' });
		after = next?.network ?? '';
		order.push(run.id);
	}
	t.deepEqual(order.slice(0, 3).sort(), ['ada1', 'bob1', 'carl1']);
	t.deepEqual(order.slice(3).sort(), ['ada2', 'bob2', 'carl2']);
	await knex('jobs').where({ id: 'ada1' }).update({ network: null });
	t.true(await jobs.retry('ada1', most));
	t.is((await jobs.next('copy'))?.network, `user ${ada.id}`);
});
