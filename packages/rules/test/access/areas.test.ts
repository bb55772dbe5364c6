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
const visitor: Viewer = { kind: 'anonymous', access: 'upload' };

test('each owner has a public tree of their own', (t) => {
	t.is<string, string>(publicRoot(null), 'Public');
	t.is<string, string>(publicRoot('ann'), 'users/ann/Public');
	t.is<string, string>(publicRoot('anonymous'), 'users/anonymous/Public');
});

const noOwner = test.macro((t, owner: string) => {
	const error = t.throws(() => publicRoot(owner), { instanceOf: Failure });
	t.is(error?.kind, 'invalidPath');
	t.throws(() => homeRoot(owner), { instanceOf: Failure });
});
test('an owner with a slash is refused', noOwner, 'bob/private');
test('an owner of two dots is refused', noOwner, '..');
test('an empty owner is refused', noOwner, '');
test('an owner that begins with a dot is refused', noOwner, '.stowage');

test('a path of the public area lies in the Public folder of the home', (t) => {
	t.is<string, string>(homePath('public', parsePath('docs/a')), 'Public/docs/a');
	t.is<string, string>(homePath('public', rootPath), 'Public');
	t.is<string, string>(homePath('private', parsePath('docs/a')), 'docs/a');
});

test('only the top-level Public folder of a home is protected', (t) => {
	t.true(isProtected('private', parsePath('Public')));
	t.false(isProtected('private', parsePath('Public/a')));
	t.false(isProtected('private', parsePath('docs/Public')));
	t.false(isProtected('public', parsePath('Public')));
});

test("a user sees their own public tree, the administrator's and the visitors', but no other user's", (t) => {
	t.deepEqual(visibleOwners(ann), ['ann', null, 'anonymous']);
	t.true(isVisibleOwner(ann, 'ann', 'own'));
	t.false(isVisibleOwner(ann, 'bob', 'own'));
});

test("a visitor sees the public trees of the administrator and of visitors, but no user's", (t) => {
	t.deepEqual(visibleOwners(visitor), [null, 'anonymous']);
	t.false(isVisibleOwner(visitor, 'ann', 'own'));
});

test('every public tree is visible when the listing includes everyone', (t) => {
	t.true(isVisibleOwner(ann, 'bob', 'everyone'));
	t.true(isVisibleOwner(visitor, 'bob', 'everyone'));
});

test("a user writes to their own public tree, a visitor to the visitors'", (t) => {
	t.is(writingOwner(ann), 'ann');
	t.is(writingOwner(visitor), 'anonymous');
});

const username = test.macro((t, name: string, isValid: boolean) => t.is(isValidUsername(name), isValid));
test('a username may contain letters, digits, dots, underscores and dashes', username, 'Ann.B_c-9', true);
test('a username may be one character', username, '7', true);
test('a username may have 32 characters', username, 'a'.repeat(32), true);
test('a username of 33 characters is refused', username, 'a'.repeat(33), false);
test('an empty username is refused', username, '', false);
test('a username that begins with a dot is refused', username, '.ann', false);
test('a username with a slash is refused', username, 'a/b', false);
test('a username with a line feed at its end is refused', username, 'ann\n', false);
test('a username with an accent is refused', username, 'rené', false);
test('the username anonymous is reserved in any case', username, 'Anonymous', false);
test('the username public is reserved in any case', username, 'PUBLIC', false);
