import type { LinkRecord, Stores } from '@stowage/plugin-api';
import { isFailure, type StoragePath } from '@stowage/rules';
import type { ExecutionContext } from 'ava';

/** The current time of the database under test. */
export interface Clock {
	now: number;
}

/** Declares a rule that applies to the stores of any empty database. */
export type Rule = (title: string, check: (t: ExecutionContext, db: Stores, clock: Clock) => Promise<void>) => void;

export const second = 1000;
export const day = 24 * 60 * 60 * second;

/** Names with characters of other meanings. All are different names, also ignoring case. */
export const hostileTexts = [
	`' or '1'='1`,
	`"; drop table users; --`,
	'%',
	'_',
	'al%ce',
	'\\',
	`\\' or 1=1 -- `,
	'`users`',
	'?',
	'??',
	':name',
	'$1',
	'😀',
	'e\u0301',
	'\u00e9',
	'\u202egpj.exe',
	'alice',
	'alice ',
	' alice',
	'alicé',
	'null',
	'0',
	'00',
	'__proto__',
	'constructor',
	'line\nbreak\r\t',
];

/** Values that a careless caller could pass for a text. */
export const foreignValues: [string, unknown][] = [
	['an object', { username: 1 }],
	['an array', ['alice']],
	['a nested array', [['alice', 'bob']]],
	['an empty object', {}],
	['a date', new Date(0)],
	['NaN', Number.NaN],
	['a text with NUL', 'alice\0'],
];

export async function refuses(
	t: ExecutionContext,
	kind: 'alreadyExists' | 'notFound' | 'noSuchUser' | 'conflict' | 'rateLimited' | 'tooLarge',
	call: () => Promise<unknown>,
) {
	const error = await t.throwsAsync(call);
	t.true(isFailure(error, kind), `${error}`);
}

/** All links at a path and below. */
export async function linksWithin(
	{ eachWithin }: Stores['links'],
	ownerId: string,
	path: StoragePath,
): Promise<LinkRecord[]> {
	const found: LinkRecord[] = [];
	await eachWithin(ownerId, path, async (some) => {
		found.push(...some);
	});
	return found;
}

/** How many turns of the event loop others have while this runs. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
	let turns = 0;
	let next = setImmediate(count);
	function count() {
		turns++;
		next = setImmediate(count);
	}
	await work();
	clearImmediate(next);
	return turns;
}
