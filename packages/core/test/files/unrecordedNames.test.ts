import { parsePath } from '@stowage/rules';
import test from 'ava';
import { oddNames } from '../../../conformance/src/storage/naming.js';
import { parseUnrecordedName, unrecordedName } from '../../src/trees/trash/recording/unrecordedNames.js';

const deletion = {
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
				t.deepEqual(
					parseUnrecordedName(unrecordedName({ ...deletion, ownerName, path: parsePath(path), deletedBy }) ?? ''),
					{
						...deletion,
						ownerName,
						path: parsePath(path),
						deletedBy,
					},
				);
});

test('it says so of each unusual path that has room in a name', (t) => {
	for (const [title, odd] of Object.entries(oddNames)) {
		for (const path of [odd, `${odd}/a.txt`, `a/${odd}`].map(parsePath)) {
			const name = unrecordedName({ ...deletion, path });
			if (name === undefined) t.true(Buffer.byteLength(path) > 100, title);
			else t.deepEqual(parseUnrecordedName(name), { ...deletion, path }, title);
		}
	}
});

test('a deletion of which a name would say something else has none', (t) => {
	for (const lost of [{ deletedBy: '' }, { deletedAt: -1 }, { deletedAt: 0.5 }, { id: 'a' }, { path: parsePath('') }])
		t.is(unrecordedName({ ...deletion, ...lost }), undefined, JSON.stringify(lost));
});

test('a path that a name has no room for has none', (t) => {
	const nameOf = (path: string) => unrecordedName({ ...deletion, path: parsePath(path) });
	t.truthy(nameOf('x'.repeat(120)));
	t.truthy(nameOf(`${'folder/'.repeat(12)}a.txt`));
	t.is(nameOf('x'.repeat(200)), undefined);
	t.is(nameOf('ü'.repeat(100)), undefined);
	t.is(nameOf(`${'x'.repeat(250)}/${'x'.repeat(250)}`), undefined);
});

test('any other name says nothing', (t) => {
	const { id } = deletion;
	const encode = (said: unknown) => Buffer.from(JSON.stringify(said)).toString('base64url');
	const said = ['owner', 1, 'ada', ''];
	t.truthy(parseUnrecordedName(`${id}.${encode(said)}.a`));
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
		t.is(parseUnrecordedName(name), undefined, name);
});
