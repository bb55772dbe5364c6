import test from 'ava';
import {
	Failure,
	homePath,
	homeRoot,
	isProtected,
	isValidUsername,
	isVisibleOwner,
	parsePath,
	publicRoot,
	rootPath,
	type Viewer,
	visibleOwners,
	writingOwner,
} from '../../src/index.js';

const ann: Viewer = { kind: 'user', id: '1', username: 'ann' };
const visitor: Viewer = { kind: 'anonymous' };

test('Each owner has a public tree of their own', (t) => {
	t.is<string, string>(publicRoot(null), 'Public');
	t.is<string, string>(publicRoot('ann'), 'users/ann/Public');
	t.is<string, string>(publicRoot('anonymous'), 'users/anonymous/Public');
});

const noOwner = test.macro((t, owner: string) => {
	const error = t.throws(() => publicRoot(owner), { instanceOf: Failure });
	t.is(error?.kind, 'invalidPath');
	t.throws(() => homeRoot(owner), { instanceOf: Failure });
});
test('An owner can not name a folder inside a home', noOwner, 'bob/private');
test('An owner can not lead out of the homes', noOwner, '..');
test('An owner can not be empty', noOwner, '');
test('An owner can not be a hidden folder', noOwner, '.stowage');

test('A path of the public area lies under Public in the home', (t) => {
	t.is<string, string>(homePath('public', parsePath('docs/a')), 'Public/docs/a');
	t.is<string, string>(homePath('public', rootPath), 'Public');
	t.is<string, string>(homePath('private', parsePath('docs/a')), 'docs/a');
});

test('Only the top-level Public of a home is protected', (t) => {
	t.true(isProtected('private', parsePath('Public')));
	t.false(isProtected('private', parsePath('Public/a')));
	t.false(isProtected('private', parsePath('docs/Public')));
	t.false(isProtected('public', parsePath('Public')));
});

test('A signed-in user sees their own tree, the ownerless one and what visitors uploaded', (t) => {
	t.deepEqual(visibleOwners(ann), ['ann', null, 'anonymous']);
	t.true(isVisibleOwner(ann, 'ann', 'own'));
	t.false(isVisibleOwner(ann, 'bob', 'own'));
});

test('A visitor sees the ownerless tree and what visitors uploaded', (t) => {
	t.deepEqual(visibleOwners(visitor), [null, 'anonymous']);
	t.false(isVisibleOwner(visitor, 'ann', 'own'));
});

test('Where everyone is listed, every tree is visible', (t) => {
	t.true(isVisibleOwner(ann, 'bob', 'everyone'));
	t.true(isVisibleOwner(visitor, 'bob', 'everyone'));
});

test('Everyone writes in one tree', (t) => {
	t.is(writingOwner(ann), 'ann');
	t.is(writingOwner(visitor), 'anonymous');
});

const username = test.macro((t, name: string, isValid: boolean) => t.is(isValidUsername(name), isValid));
test('A user name has letters, digits, dots, underscores and dashes', username, 'Ann.B_c-9', true);
test('A user name may be one character', username, '7', true);
test('A user name may have 32 characters', username, 'a'.repeat(32), true);
test('A user name of 33 characters is refused', username, 'a'.repeat(33), false);
test('The empty user name is refused', username, '', false);
test('A user name that begins with a dot is refused', username, '.ann', false);
test('A user name with a slash is refused', username, 'a/b', false);
test('A user name with a line feed at its end is refused', username, 'ann\n', false);
test('A user name with an accent is refused', username, 'rené', false);
test('Anonymous is taken in any case', username, 'Anonymous', false);
test('Public is taken in any case', username, 'PUBLIC', false);
