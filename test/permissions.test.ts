import * as contract from '@stowage/contract';
import test, { type ExecutionContext } from 'ava';
import { type Answer, json } from '../packages/core/test/testApp.js';
import { until } from '../packages/core/test/until.js';
import { removeFilms } from '../plugins/handbrake/test/conversions.js';
import { isEveryday } from './everyday.js';
import type { Request } from './permissions/call.js';
import { type Item, type Place, placeOf, sharedPathsOf, wrongPlacesOf } from './permissions/items.js';
import { type Person, type Role, roleOf, type Which, whiches } from './permissions/people.js';
import { type AboutItem, type AboutShare, rows } from './permissions/rows.js';
import { type Owner, type Site, setUp } from './permissions/site.js';

test.after.always(removeFilms);

const endpoints = Object.entries(contract).filter(
	(each): each is [keyof typeof rows, contract.AnyEndpoint] =>
		typeof each[1] === 'object' && each[1] !== null && 'audience' in each[1],
);

test('every call of the contract says who may use it', (t) => {
	t.deepEqual(Object.keys(rows).sort(), endpoints.map(([name]) => String(name)).sort());
});

type RowAbout<About> = Extract<(typeof rows)[keyof typeof rows][number], { about: About }>;

/** A row with its endpoint. */
interface Asked<About> {
	endpoint: contract.AnyEndpoint;
	row: RowAbout<About>;
	tell: (fault: string) => void;
}

/** What is told of any one of several calls: which of them it was is not known. */
const tellOfOne = (asked: readonly { tell: (fault: string) => void }[]) => (fault: string) =>
	asked[0]?.tell(`or another of ${asked.length} calls: ${fault}`);

/** Rows that are asked together: what everybody has is compared before and after, which costs more than most of them. */
const together = 8;

/** All rows of one sort, some at a time. What is found is told together at the end. */
function testEach<About extends 'item' | 'share' | 'account' | 'nobody'>(
	title: string,
	about: About,
	check: (site: Site, asked: readonly Asked<About>[]) => Promise<void>,
): void {
	test.serial(title, async (t: ExecutionContext) => {
		const site = await setUp(t);
		const faults: string[] = [];
		const asked = endpoints.flatMap(([name, endpoint]) =>
			rows[name]
				.filter((row) => row.about === about)
				.map((row) => ({
					...{ endpoint, row: row as RowAbout<About> },
					tell: (fault: string) => void faults.push(`${name}: ${fault}`),
				})),
		);
		const checkAll = async () => {
			for (let at = 0; at < asked.length; at += together) await check(site, asked.slice(at, at + together));
		};
		// Of the others it is asked for each cell.
		if (about === 'account' || about === 'nobody')
			await unchanged(site, ['ada', 'dora'], (fault) => faults.push(fault), checkAll);
		else await checkAll();
		t.not(asked.length, 0);
		t.deepEqual(faults, []);
	});
}

const ranks: Record<Role, number> = { none: 0, view: 1, edit: 2, own: 3 };
const needed = { read: 1, write: 2, own: 3 };

function mayUse({ right }: AboutItem, role: Role, which: Which): boolean {
	if (right === 'bearer') return which !== 'disabled';
	if (right === 'nobody') return false;
	return right === 'member' ? role === 'view' || role === 'edit' : ranks[role] >= needed[right];
}

testEach('a private item is read and changed by whom its owner lets', 'item', async (site, asked) => {
	for (const { endpoint, row, tell } of asked) {
		for (const { person, which } of cellsOf(site, row).filter(({ may }) => may)) {
			const item = await site.make(which, person);
			const request = row.request(placeOf(person, item), await idOf(site, row, item));
			const answer = await person.send({ endpoint, ...request });
			tellUnlessAllowed(row, answer, person, which, tell);
			if (isStarted(endpoint, answer) && (await endOf(person, answer)) !== 'completed')
				tell(`${person.title} may not, with the ${which} item: its job failed`);
			await item.remove();
		}
	}
	await tellIfNotRefused(
		site,
		asked,
		({ may }) => !may,
		({ endpoint, row }, { person, role }, item, id) => ({
			requests: [row.request(placeOf(person, item), id)],
			status: refusalOf(row, endpoint, person, role),
		}),
	);
});

testEach('no other name of a private item leads anybody to it', 'item', (site, asked) =>
	tellIfNotRefused(
		site,
		asked,
		({ may, which }) => !may || which !== 'own',
		({ row }, { person }, item, id) => {
			const right = JSON.stringify(row.request(placeOf(person, item), id));
			const wrong = wrongPlacesOf(person, item).map((place: Place) => row.request(place, id));
			return { requests: wrong.filter((request) => JSON.stringify(request) !== right), status: undefined };
		},
	),
);

/** Somebody who asks about an item. */
interface Cell {
	person: Person;
	which: Which;
	role: Role;
	may: boolean;
}

/** To the calls of users each guest of a share is a visitor: in the everyday run those are asked who may most. */
const isAsked = ({ client, triesAll, share }: Person) =>
	!isEveryday || client !== undefined || triesAll || share.send === 'ok';

const cellsOf = (site: Site, row: AboutItem): Cell[] =>
	site.people.filter(isAsked).flatMap((person) =>
		whiches.flatMap((which) => {
			const role = roleOf(person, which);
			return role === undefined ? [] : [{ person, which, role, may: mayUse(row, role, which) }];
		}),
	);

/** Of what the owner has made of the item for this row. */
const idOf = (site: Site, row: AboutItem, item: Item) =>
	site.asOwner(item, async () => (await row.made?.(item.owner.client, { type: 'private', folder: item.folder })) ?? '');

/** Makes for each row one item for all who ask about it, and what they ask; without a status any refusal is one. */
async function tellIfNotRefused(
	site: Site,
	asked: readonly Asked<'item'>[],
	isTried: (cell: Cell) => boolean,
	attempt: (
		asked: Asked<'item'>,
		cell: Cell,
		item: Item,
		id: string,
	) => { requests: Request[]; status: number | undefined },
): Promise<void> {
	const made: Item[] = [];
	const attempts: (Asked<'item'> & ReturnType<typeof attempt> & { person: Person; item: Item })[] = [];
	for (const each of asked) {
		const items = new Map<string, { item: Item; id: string }>();
		for (const cell of cellsOf(site, each.row).filter(isTried)) {
			const { person, which, role } = cell;
			const ofWhom =
				which === 'own' || (which === 'foreign' && role === 'none' && person.role === 'own') ? person.title : '';
			const key = `${which} ${ofWhom}`;
			const item = items.get(key)?.item ?? (await site.make(which, person));
			const id = items.get(key)?.id ?? (await idOf(site, each.row, item));
			items.set(key, { item, id });
			attempts.push({ ...each, person, item, ...attempt(each, cell, item, id) });
		}
		for (const { item } of items.values()) made.push(item);
	}
	await unchanged(site, ['ada', 'dora', 'eve'], tellOfOne(asked), async () => {
		for (const { endpoint, tell, person, item, requests, status } of attempts) {
			for (const request of requests) {
				const answer = await person.send({ endpoint, ...request });
				const by = JSON.stringify(request);
				const isFailed = isStarted(endpoint, answer) && (await endOf(person, answer)) === 'failed';
				// A failed job is a refusal, too.
				const mayBe = status === undefined ? [...tricked, ...(isFailed ? [202] : [])] : [status];
				tellUnlessRefused(answer, status === 202 && !isFailed ? [] : mayBe, person, item, by, tell);
			}
		}
	});
	for (const item of made) await item.remove();
}

/** The status for who asks by the ordinary name and may not. */
function refusalOf(
	{ right, refused }: AboutItem,
	{ audience }: contract.AnyEndpoint,
	person: Person,
	role: Role,
): number {
	if (person.client === undefined && audience === 'user') return 401;
	if (typeof refused === 'number') return refused;
	if (person.client === undefined) return refused?.visitor ?? 401;
	return refused?.[role] ?? (right === 'write' && role === 'view' ? 403 : 404);
}

const isStarted = ({ path }: contract.AnyEndpoint, { statusCode }: Answer) =>
	path === contract.startJob.path && statusCode === 202;

function endOf(person: Person, { payload }: Answer): Promise<string> {
	const params = { id: JSON.parse(payload).id };
	return until('the job ends', async () => {
		const { status } = json(await person.send({ endpoint: contract.findJob, params }));
		return !['queued', 'processing'].includes(status) && status;
	});
}

testEach(
	'an item of a share is read, and one is sent, by who has its address, while it holds',
	'share',
	async (site, asked) => {
		const [owner] = site.people as [Person];
		const ask = async (
			{ endpoint, row, tell }: Asked<'share'>,
			person: Person,
			item: Item,
			status?: readonly number[],
		) => {
			const id = status === undefined ? ((await row.made?.(person.send)) ?? '') : 'none';
			for (const folder of sharedPathsOf(item)) {
				const answer = await person.send({ endpoint, ...row.request(folder, id) });
				if (status === undefined) tellUnlessAllowed(row, answer, person, item.which, tell);
				else tellUnlessRefused(answer, status, person, item, folder, tell);
			}
		};
		const shared = await site.make('shared', owner);
		const foreign = await site.make('foreign', site.people.at(-1) as Person);
		for (const each of asked)
			for (const person of site.people) if (person.share[each.row.right] === 'ok') await ask(each, person, shared);
		await unchanged(site, ['ada'], tellOfOne(asked), async () => {
			for (const each of asked) {
				for (const person of site.people) {
					const status = person.share[each.row.right];
					if (status !== 'ok') await ask(each, person, shared, [status]);
					if (each.row.right === 'read') await ask(each, person, foreign, tricked);
				}
			}
		});
		await shared.remove();
		await foreign.remove();
	},
);

testEach('an account is shown and changed by who is signed in to it', 'account', async (site, asked) => {
	for (const { endpoint, row, tell } of asked) {
		const id = (await row.made?.(site.ada)) ?? '';
		for (const person of site.people.filter(({ client }) => client !== site.ada)) {
			const answer = await person.send({ endpoint, ...row.request(id) });
			tellUnlessHarmless(answer, person.client === undefined ? 401 : row.status, person, tell);
		}
	}
});

testEach('what is for everybody tells of nobody', 'nobody', async (site, asked) => {
	for (const { endpoint, row, tell } of asked)
		for (const person of site.people.filter(({ client }) => client === undefined))
			tellUnlessHarmless(await person.send({ endpoint, ...row.request() }), row.status, person, tell);
});

function tellUnlessHarmless(
	{ statusCode, payload }: Answer,
	status = 200,
	{ title }: Person,
	tell: (fault: string) => void,
): void {
	if (statusCode !== status) tell(`${title} was answered ${statusCode}, not ${status}: ${payload.slice(0, 300)}`);
	// As a word: the hexadecimal ids of sessions have these three letters by chance.
	if (/\bada\b|dora|docs|papers/.test(payload)) tell(`${title} was told of somebody: ${payload}`);
}

/** Tells what of others was changed meanwhile. */
async function unchanged(
	site: Site,
	of: readonly Owner[],
	tell: (fault: string) => void,
	act: () => Promise<void>,
): Promise<void> {
	const before = new Set(await site.state(of));
	await act();
	const after = new Set(await site.state(of));
	for (const line of before) if (!after.has(line)) tell(`lost: ${line.slice(0, 300)}`);
	for (const line of after) if (!before.has(line)) tell(`got: ${line.slice(0, 300)}`);
}

function tellUnlessAllowed(
	{ allowed }: AboutItem | AboutShare,
	{ statusCode, payload }: Answer,
	{ title }: Person,
	which: Which,
	tell: (fault: string) => void,
): void {
	const isAllowed = allowed === undefined ? statusCode >= 200 && statusCode < 300 : statusCode === allowed;
	if (!isAllowed) tell(`${title} may not, with the ${which} item: ${statusCode} ${payload.slice(0, 300)}`);
}

/** What is answered to tricks. */
const tricked = [400, 401, 403, 404, 410];

function tellUnlessRefused(
	{ statusCode, payload }: Answer,
	mayBe: readonly number[],
	{ title }: Person,
	{ which, marker }: Item,
	asked: string,
	tell: (fault: string) => void,
): void {
	if (!mayBe.includes(statusCode))
		tell(
			`${title}, with the ${which} item, by ${asked}: ${statusCode}, not ${mayBe.join(' or ')}: ${payload.slice(0, 300)}`,
		);
	if (payload.includes(marker)) tell(`${title} was told of the ${which} item, by ${asked}: ${payload.slice(0, 300)}`);
}
