import type { JoinedFolder } from '@stowage/plugin-api';
import { maxNameBytes, parsePath } from '@stowage/rules';
import test from 'ava';
import { usualMs } from '../../../../test/processorTime.js';
import { namedFolders } from '../../src/members/folderNames.js';

let count = 0;
const folder = (owner: string, name: string): JoinedFolder => ({
	...{ id: `folder ${++count}`, owner: { id: `id of ${owner}`, username: owner }, path: parsePath(name) },
	...{ nextPath: undefined, itemId: '1', role: 'edit', createdAt: count },
});
const names = (folders: readonly JoinedFolder[]) => namedFolders(folders).map(({ name }) => name);

test('folders of one name are told apart by their owners, and those of one owner by numbers', (t) => {
	t.deepEqual(names([folder('ada', 'a/Photos'), folder('ada', 'Music')]), ['Photos', 'Music']);
	const all = [folder('ada', 'Photos'), folder('bob', 'in/Photos'), folder('ada', 'old/Photos'), folder('ada', 'x')];
	t.deepEqual(names(all), ['Photos (ada)', 'Photos (bob)', 'Photos (ada 2)', 'x']);
});

test('nobody gets the name of a folder of somebody else, whatever they call theirs', (t) => {
	const before = [
		folder('ada', 'Photos'),
		folder('bob', 'Photos'),
		folder('ada', 'b/Photos'),
		folder('cy', 'Trip (2030)'),
	];
	const ownerOf = new Map(namedFolders(before).map(({ name, folder: { owner } }) => [name, owner.username]));
	const hostile = [
		'Photos (ada)',
		'Photos (ada 2)',
		'Photos (ada) (1)',
		'Photos (ada 2.2)',
		'Photos (bob)',
		'Photos',
		'Trip',
		'Trip (2030)',
	];
	for (const name of hostile) {
		for (const owner of ['1', '2', '2030', 'mallory']) {
			for (const twice of [false, true]) {
				const own = [folder(owner, name), ...(twice ? [folder(owner, `b/${name}`)] : [])];
				// Also one that is renamed, and was shared before.
				for (const after of [
					[...before, ...own],
					[...own, ...before],
				]) {
					const all = namedFolders(after);
					t.is(new Set(all.map((each) => each.name)).size, after.length);
					for (const each of all) {
						const { username } = each.folder.owner;
						t.true(
							[username, undefined].includes(ownerOf.get(each.name)),
							`${each.name} was another's, not ${username}'s`,
						);
					}
				}
			}
		}
	}
});

test('names stay within their bytes and different, also long ones', (t) => {
	const long = 'ö'.repeat(127);
	const all = [1, 2, 3].flatMap((n) => [
		folder('ada', `${n}/${long}`),
		folder('ada', `${n}/${long}x`),
		folder('bob', `${n}/${long}`),
	]);
	const given = names(all);
	t.is(new Set(given).size, all.length);
	for (const name of given) t.true(Buffer.byteLength(name) <= maxNameBytes, name);
});

test('many folders of one name cost no more than as many of different names', async (t) => {
	const same = Array.from({ length: 4000 }, (_, n) => folder('ada', `${n}/Photos`));
	const hostile = Array.from({ length: 4000 }, (_, n) => folder('eve', `Photos (ada${n === 0 ? '' : ` 1.${n}`})`));
	const ms = await usualMs(() => t.is(new Set(names([...same, ...hostile])).size, 8000));
	// A search for the next free name of each would take half a minute.
	t.true(ms < 5000, `${ms} ms`);
});

test('long names that differ only at their ends are told apart in a time that grows with their number', async (t) => {
	const twins = (length: number) =>
		Array.from({ length: 600 }, (_, n) => {
			const name = `${'x'.repeat(length - 10)}${String(Math.floor(n / 2)).padStart(4, '0')}zzzzzz`;
			return folder('ada', `${n % 2}/${name}`);
		});
	const long = names(twins(255));
	t.is(new Set(long).size, 600);
	t.true(long.every((name) => Buffer.byteLength(name) <= maxNameBytes));
	const ms = (length: number) => {
		const folders = twins(length);
		return usualMs(() => names(folders));
	};
	const [short, cut] = [Math.min(await ms(200), await ms(200)), Math.min(await ms(255), await ms(255))];
	// 10 ms; to try for each all that others have got takes 200.
	t.true(cut < 8 * short + 40, `${cut} ms for names that are cut, ${short} ms for others`);
});
