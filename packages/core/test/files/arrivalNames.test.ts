import { parsePath } from '@stowage/rules';
import test from 'ava';
import { arrivalName, parseArrival } from '../../src/trees/trash/arrivalNames.js';

const arrival = {
	id: '0123456789abcdef'.repeat(2),
	ownerId: '8f4a7c1e-0f5b-4d0e-9a55-0a6f6a0b8a11',
	ownerName: 'ada',
	path: parsePath('docs/a.txt'),
	deletedAt: Date.UTC(2030, 0, 1),
	deletedBy: 'ada',
};

test('the name of a deleted item says whose it was, where and when', (t) => {
	for (const path of ['a', 'docs/2024/ä 😀 %2F.txt', '%/%25/..%2F', 'a.b/.c.d/..e', '50%', 'Public/x:y*z?'])
		for (const deletedBy of ['ada', 'bob', 'é'])
			for (const ownerName of ['ada', 'grüße.x'])
				t.deepEqual(parseArrival(arrivalName({ ...arrival, ownerName, path: parsePath(path), deletedBy }) ?? ''), {
					...arrival,
					ownerName,
					path: parsePath(path),
					deletedBy,
				});
});

test('a path that a name has no room for has none', (t) => {
	const nameOf = (path: string) => arrivalName({ ...arrival, path: parsePath(path) });
	t.truthy(nameOf('x'.repeat(120)));
	t.truthy(nameOf(`${'folder/'.repeat(12)}a.txt`));
	t.is(nameOf('x'.repeat(200)), undefined);
	t.is(nameOf('ü'.repeat(100)), undefined);
	t.is(nameOf(`${'x'.repeat(250)}/${'x'.repeat(250)}`), undefined);
});

test('any other name says nothing', (t) => {
	const { id } = arrival;
	const encode = (said: unknown) => Buffer.from(JSON.stringify(said)).toString('base64url');
	const said = ['owner', 1, 'ada', ''];
	t.truthy(parseArrival(`${id}.${encode(said)}.a`));
	for (const name of [
		...['', id, `${id}.`, `${id}..a`, `${id}.${encode(said)}`, `${id}.${encode(said)}.`, `x${id}.${encode(said)}.a`],
		...[`${id}.${encode(said)}.a%2F..%2Fb`, `${id}.${encode(said)}.%2Fa`, `${id}.${encode([])}.a`, `${id}.junk.a`],
		...[
			`${id}.${encode(['owner', '1', 'ada', ''])}.a`,
			`${id}.${encode(['owner', 1e308, 'ada', ''])}.a`,
			`${id}.${encode({})}.a`,
			`${id}.${encode(null)}.a`,
		],
	])
		t.is(parseArrival(name), undefined, name);
});
