import test from 'ava';
import fc from 'fast-check';
import {
	type Area,
	assertAllowed,
	baseName,
	browseDenial,
	convertDenial,
	copyDenial,
	copyToDenial,
	createFolderDenial,
	cutDenial,
	deleteDenial,
	deleteForeverDenial,
	Failure,
	type FailureKind,
	hasPlainLink,
	type Item,
	itemOf,
	joinPath,
	leaveDenial,
	moveDenial,
	moveToPrivateDenial,
	moveToPublicDenial,
	type Owner,
	parsePath,
	pasteDenials,
	readDenial,
	renameDenial,
	replaceDenial,
	temporaryLinkDenial,
	uploadDenial,
	type Viewer,
} from '../../src/index.js';

const ann: Viewer = { kind: 'user', id: '1', username: 'ann' };
const visitor: Viewer = { kind: 'anonymous', access: 'upload' };

const privately = (path: string): Item => ({ area: 'private', path: parsePath(path) });
const publicly = (path: string, owner?: Owner): Item => ({ area: 'public', owner, path: parsePath(path) });

const allowed = test.macro((t, refusal: Failure | undefined) => t.is(refusal, undefined));
const refused = test.macro((t, refusal: Failure | undefined, kind: FailureKind, message?: string) => {
	t.is(refusal?.kind, kind);
	if (message !== undefined) t.is(refusal?.message, message);
});

test('assertAllowed throws the given denial, and nothing without one', (t) => {
	t.notThrows(() => assertAllowed(undefined));
	t.throws(() => assertAllowed(new Failure('forbidden', 'No')), { instanceOf: Failure, message: 'No' });
});

test('itemOf makes an item of an entry of a listing', (t) => {
	t.deepEqual(itemOf('public', { path: 'a/b', owner: null }), publicly('a/b', null));
});

// Browsing and reading
test('a visitor may browse the public area', allowed, browseDenial(visitor, 'public'));
for (const access of ['read', 'off'] as const) {
	const limited: Viewer = { kind: 'anonymous', access };
	test(
		`a visitor may not upload where visitors have the access ${access}`,
		refused,
		uploadDenial(limited, publicly('')),
		'notSignedIn',
	);
}
test('a visitor who may read may browse', allowed, browseDenial({ kind: 'anonymous', access: 'read' }, 'public'));
test('a visitor who may read may read', allowed, readDenial({ kind: 'anonymous', access: 'read' }, publicly('a')));
test(
	'a visitor who may do nothing may not browse',
	refused,
	browseDenial({ kind: 'anonymous', access: 'off' }, 'public'),
	'notSignedIn',
);
test(
	'a visitor who may do nothing may not read',
	refused,
	readDenial({ kind: 'anonymous', access: 'off' }, publicly('a')),
	'notSignedIn',
);
test('a user may browse the private area', allowed, browseDenial(ann, 'private'));
test('a visitor may not browse the private area', refused, browseDenial(visitor, 'private'), 'notSignedIn');
test('a user may read their private files', allowed, readDenial(ann, privately('docs/a')));
test('a visitor may not read private files', refused, readDenial(visitor, privately('docs/a')), 'notSignedIn');
test(
	"a user may not read another user's private files",
	refused,
	readDenial(ann, { ...privately('a'), owner: 'bob' }),
	'notFound',
);
test("a visitor may read a file below any user's public root", allowed, readDenial(visitor, publicly('a', 'bob')));
test("a user may not read another user's whole public root", refused, readDenial(ann, publicly('', 'bob')), 'notFound');
test('the refusal to read a public root does not name its empty path', (t) => {
	t.is(readDenial(ann, publicly('', 'bob'))?.message, 'There is no such file or folder.');
});
test(
	"a visitor may not read a user's whole public root",
	refused,
	readDenial(visitor, publicly('', 'ann')),
	'notFound',
);
test('a user may read their own public root', allowed, readDenial(ann, publicly('', 'ann')));
test("a visitor may read the administrator's public root", allowed, readDenial(visitor, publicly('', null)));
test('a visitor may read the merged public root', allowed, readDenial(visitor, publicly('')));
test(
	"a user may read another user's public root when the listing includes everyone",
	allowed,
	readDenial(ann, publicly('', 'bob'), 'everyone'),
);

// Uploading
const rootOnly = 'Anonymous uploads/folders are only allowed at the root public folder.';
test('a visitor may upload to the public root', allowed, uploadDenial(visitor, publicly('')));
test(
	"a visitor may upload to the visitors' public root by its owner",
	allowed,
	uploadDenial(visitor, publicly('', 'anonymous')),
);
test('a visitor may not upload to a folder', refused, uploadDenial(visitor, publicly('docs')), 'forbidden', rootOnly);
test(
	"a visitor may not upload to the administrator's tree",
	refused,
	uploadDenial(visitor, publicly('', null)),
	'notOwner',
);
test('a visitor may not upload to the private area', refused, uploadDenial(visitor, privately('')), 'notSignedIn');
test('a user may upload to the private area at any depth', allowed, uploadDenial(ann, privately('a/b')));
test(
	'a user may upload to a folder inside Public of the private area',
	allowed,
	uploadDenial(ann, privately('Public/b')),
);
test('a user may upload to their public tree at any depth', allowed, uploadDenial(ann, publicly('a/b', 'ann')));
test("a user may not upload to another user's tree", refused, uploadDenial(ann, publicly('a', 'bob')), 'notOwner');
test("a user may not upload to the administrator's tree", refused, uploadDenial(ann, publicly('', null)), 'notOwner');

// Creating folders
const login = 'You must be logged in to create folders in public.';
test('a user may create folders in the public area', allowed, createFolderDenial(ann, publicly('a')));
test('a user may create folders in the private area', allowed, createFolderDenial(ann, privately('')));
test(
	'a visitor may not create folders in the public area',
	refused,
	createFolderDenial(visitor, publicly('')),
	'notSignedIn',
	login,
);
test(
	'a visitor may not create folders in the private area',
	refused,
	createFolderDenial(visitor, privately('')),
	'notSignedIn',
);
test(
	"a user may not create folders in another user's tree",
	refused,
	createFolderDenial(ann, publicly('', 'bob')),
	'notOwner',
);

// Renaming, deleting and cutting
const notOwned = 'You do not own any of the selected items';
const verbs = {
	rename: { refuse: renameDenial, foreign: notOwned },
	delete: { refuse: deleteDenial, foreign: notOwned },
	cut: { refuse: cutDenial, foreign: 'Cannot cut files you do not own' },
} as const;
for (const [verb, { refuse, foreign }] of Object.entries(verbs)) {
	const guarded = `Cannot ${verb} protected folders`;
	test(`a user may ${verb} their own private item`, allowed, refuse(ann, privately('docs/a')));
	test(`a user may ${verb} their own public item`, allowed, refuse(ann, publicly('a', 'ann')));
	test(`a user may ${verb} a public item that is given without its owner`, allowed, refuse(ann, publicly('a')));
	test(`a user may ${verb} an item inside Public`, allowed, refuse(ann, privately('Public/a')));
	test(`a user may ${verb} a deeper folder named Public`, allowed, refuse(ann, privately('docs/Public')));
	test(
		`a visitor may not ${verb} a visitor's upload`,
		refused,
		refuse(visitor, publicly('a', 'anonymous')),
		'notSignedIn',
	);
	test(`a user may not ${verb} another user's item`, refused, refuse(ann, publicly('a', 'bob')), 'notOwner', foreign);
	test(
		`a user may not ${verb} the administrator's item`,
		refused,
		refuse(ann, publicly('a', null)),
		'notOwner',
		foreign,
	);
	test(`a user may not ${verb} Public`, refused, refuse(ann, privately('Public')), 'protected', guarded);
	test(`a user may not ${verb} the private root`, refused, refuse(ann, privately('')), 'protected', guarded);
	test(`a user may not ${verb} the public root`, refused, refuse(ann, publicly('')), 'protected', guarded);
}

// Replacing
test('a user may replace their own file', allowed, replaceDenial(ann, privately('docs/a')));
test('a user may replace a file in their own public tree', allowed, replaceDenial(ann, publicly('a', 'ann')));
test("a user may not replace another user's file", refused, replaceDenial(ann, publicly('a', 'bob')), 'notOwner');
test("a user may not replace a visitor's file", refused, replaceDenial(ann, publicly('a', 'anonymous')), 'notOwner');
test('a user may not replace Public', refused, replaceDenial(ann, privately('Public')), 'protected');
test(
	'a visitor may not replace a file, not even one of a visitor',
	refused,
	replaceDenial(visitor, publicly('a', 'anonymous')),
	'forbidden',
	'You must be logged in to replace files.',
);

// Copying
test("a user may copy another user's public item", allowed, copyDenial(ann, publicly('a', 'bob')));
test(
	'a user may not copy Public',
	refused,
	copyDenial(ann, privately('Public')),
	'protected',
	'Cannot copy protected folders',
);
test('a user may not copy a public root', refused, copyDenial(ann, publicly('', null)), 'protected');
test('a visitor may not copy a public item', refused, copyDenial(visitor, publicly('a', null)), 'notSignedIn');
test('an item may be copied into the same folder', allowed, copyToDenial(ann, privately('a/b'), privately('a/b')));
test(
	"another user's public item may be copied to the private area",
	allowed,
	copyToDenial(ann, publicly('b', 'bob'), privately('b/b')),
);
test(
	"a user's own public item may be copied to the private area",
	allowed,
	copyToDenial(ann, publicly('b', 'ann'), privately('b/b')),
);
test(
	'an item may not be copied to the public tree of another user',
	refused,
	copyToDenial(ann, privately('a'), publicly('a', 'bob')),
	'notOwner',
);
test('a folder may not be copied into itself', refused, copyToDenial(ann, privately('a'), privately('a/a')), 'invalid');
test(
	'a folder may not be copied below itself',
	refused,
	copyToDenial(ann, privately('a'), privately('a/b/a')),
	'invalid',
);
test(
	'a folder may not be copied into itself through the other area',
	refused,
	copyToDenial(ann, privately('Public/a'), publicly('a/a')),
	'invalid',
);

// Moving
test('an item may be moved into another folder', allowed, moveDenial(ann, privately('a/b'), privately('c/b')));
test('an item may be moved to the parent folder', allowed, moveDenial(ann, privately('a/b'), privately('b')));
test('an item may be moved between areas', allowed, moveDenial(ann, privately('a'), publicly('a')));
test(
	'a folder may be moved into a folder whose name begins with its own',
	allowed,
	moveDenial(ann, privately('a'), privately('a2/a')),
);
test(
	'an item may not be moved within the same folder',
	refused,
	moveDenial(ann, privately('a/b'), privately('a/c')),
	'invalid',
);
test('an item may not be moved within the root', refused, moveDenial(ann, privately('a'), privately('b')), 'invalid');
test(
	'an item may not be moved within its folder through the other area',
	refused,
	moveDenial(ann, publicly('a'), privately('Public/b')),
	'invalid',
);
test('a folder may not be moved into itself', refused, moveDenial(ann, privately('a'), privately('a/a')), 'invalid');
test('a folder may not be moved below itself', refused, moveDenial(ann, privately('a'), privately('a/b/a')), 'invalid');
test(
	'a user may not move Public',
	refused,
	moveDenial(ann, privately('Public'), privately('a/Public')),
	'protected',
	'Cannot move protected folders',
);
test(
	"a user may not move another user's item",
	refused,
	moveDenial(ann, publicly('a', 'bob'), publicly('b/a')),
	'notOwner',
);
test(
	"a user may not move an item to the administrator's tree",
	refused,
	moveDenial(ann, privately('a'), publicly('a', null)),
	'notOwner',
);
test(
	"a visitor may not move a visitor's upload",
	refused,
	moveDenial(visitor, publicly('a', 'anonymous'), publicly('b/a')),
	'notSignedIn',
);

// Between the areas
test('a move between areas is refused like a move to public or to private, whichever area its paths are given in', (t) => {
	const names = fc.constantFrom('a', 'Public', 'Public/a', 'Public/a/b', 'docs/a', 'Publications/a');
	const item = fc.oneof(
		names.map(privately),
		names.map((name) => publicly(name)),
	);
	fc.assert(
		fc.property(fc.constantFrom(ann, visitor), item, item, (viewer, from, to) => {
			const inHome = privately([from.area === 'public' ? 'Public' : '', from.path].filter(Boolean).join('/'));
			const below = inHome.path.slice('Public/'.length);
			const [isPublic, becomesPublic] = [from, to].map(
				({ area, path }) => area === 'public' || /^Public(?:\/|$)/.test(path),
			);
			if (isPublic === becomesPublic) return;
			const rule = becomesPublic ? moveToPublicDenial(viewer, inHome) : moveToPrivateDenial(viewer, publicly(below));
			const refusal = moveDenial(viewer, from, to);
			if (rule) t.is(refusal?.message, rule.message);
			else t.not(refusal?.kind, 'protected');
		}),
	);
});

test('what is pasted into a folder is refused as its move or copy to the full path would be', (t) => {
	const names = fc.constantFrom('a', 'Public', 'Public/a', 'Public/a/b', 'docs/a', 'Publications/a');
	const folders = fc.constantFrom('', 'a', 'docs', 'docs/a', 'Public', 'Public/a');
	const areas = fc.constantFrom<Area>('private', 'public', 'shared');
	const owners = fc.constantFrom(undefined, 'ann', 'bob');
	fc.assert(
		fc.property(
			fc.constantFrom(ann, visitor),
			areas,
			owners,
			names,
			areas,
			folders,
			(viewer, area, owner, path, to, folder) => {
				const item = { area, owner, path: parsePath(path) };
				const directory = parsePath(folder);
				const target = { area: to, path: joinPath(directory, baseName(item.path)) };
				const denial = (operation: 'cut' | 'copy') =>
					pasteDenials(operation, viewer, to, directory)(item, baseName(item.path));
				t.is(denial('copy')?.message, copyToDenial(viewer, item, target)?.message);
				t.is(denial('cut')?.message, (cutDenial(viewer, item) ?? moveDenial(viewer, item, target))?.message);
			},
		),
	);
});

test('a private item may be moved to public', allowed, moveToPublicDenial(ann, privately('docs/a')));
test(
	'an item inside Public may not be moved to public',
	refused,
	moveToPublicDenial(ann, privately('Public/a')),
	'invalid',
);
test('Public may not be moved to public', refused, moveToPublicDenial(ann, privately('Public')), 'protected');
test('a public item may not be moved to public', refused, moveToPublicDenial(ann, publicly('a')), 'invalid');
test('a visitor may not move an item to public', refused, moveToPublicDenial(visitor, privately('a')), 'notSignedIn');
test('a user may move their own public item to private', allowed, moveToPrivateDenial(ann, publicly('a', 'ann')));
test(
	"another user's item may not be moved to private",
	refused,
	moveToPrivateDenial(ann, publicly('a', 'bob')),
	'notOwner',
	notOwned,
);
test(
	"a visitor's upload may not be moved to private",
	refused,
	moveToPrivateDenial(ann, publicly('a', 'anonymous')),
	'notOwner',
);
test('a private item may not be moved to private', refused, moveToPrivateDenial(ann, privately('Public/a')), 'invalid');
test('the public root may not be moved to private', refused, moveToPrivateDenial(ann, publicly('')), 'protected');

// Links
test('a private item may have a temporary link', allowed, temporaryLinkDenial(ann, privately('docs/a')));
test(
	'an item inside Public may not have a temporary link',
	refused,
	temporaryLinkDenial(ann, privately('Public/a')),
	'invalid',
);
test('Public may not have a temporary link', refused, temporaryLinkDenial(ann, privately('Public')), 'invalid');
test('a public item may not have a temporary link', refused, temporaryLinkDenial(ann, publicly('a')), 'invalid');
test('a whole home may not have a temporary link', refused, temporaryLinkDenial(ann, privately('')), 'invalid');
test('a visitor may not create a temporary link', refused, temporaryLinkDenial(visitor, privately('a')), 'notSignedIn');
test('only an item below a public root has a plain link', (t) => {
	t.true(hasPlainLink(publicly('a', 'bob')));
	t.true(hasPlainLink(privately('Public/a')));
	t.false(hasPlainLink(privately('Public')));
	t.false(hasPlainLink(publicly('')));
	t.false(hasPlainLink(privately('Public2/a')));
});

// Converting
test('a user may convert their own files', allowed, convertDenial(ann, publicly('a.avi', 'ann')));
test("a user may not convert another user's file", refused, convertDenial(ann, publicly('a.avi', 'bob')), 'notOwner');
test(
	'a visitor may not convert a file',
	refused,
	convertDenial(visitor, publicly('a.avi', 'anonymous')),
	'notSignedIn',
);

const item: fc.Arbitrary<Item> = fc.record({
	area: fc.constantFrom<Area>('private', 'public'),
	owner: fc.constantFrom<Owner | undefined>(undefined, null, 'ann', 'bob', 'anonymous'),
	path: fc.constantFrom('', 'a', 'a/b', 'Public', 'Public/a').map(parsePath),
});
const changes = [
	renameDenial,
	deleteDenial,
	deleteForeverDenial,
	cutDenial,
	moveToPublicDenial,
	moveToPrivateDenial,
	temporaryLinkDenial,
	convertDenial,
];
const change = fc.constantFrom(...changes, createFolderDenial);

test('every change by a visitor except an upload is refused as not signed in', (t) => {
	fc.assert(fc.property(change, item, (refuse, each) => refuse(visitor, each)?.kind === 'notSignedIn'));
	t.pass();
});

test("every change in another owner's tree is refused", (t) => {
	const foreign = item.filter(({ owner }) => owner !== undefined && owner !== 'ann');
	fc.assert(
		fc.property(fc.constantFrom(...changes, createFolderDenial, uploadDenial), foreign, (refuse, each) => {
			return refuse(ann, each)?.kind === 'notOwner';
		}),
	);
	t.pass();
});

test('who may look at a shared item reads and copies it, and who edits changes it', (t) => {
	const at = (path: string, role?: 'view' | 'edit'): Item => ({ area: 'shared', path: parsePath(path), role });
	const changing = [renameDenial, deleteDenial, replaceDenial, cutDenial, convertDenial, uploadDenial];
	for (const denial of [...changing, createFolderDenial]) {
		t.is(denial(ann, at('Photos/a', 'view'))?.kind, 'forbidden');
		t.is(denial(ann, at('Photos/a', 'edit')), undefined);
		t.is(denial(ann, at('Photos/a')), undefined, 'the folder has the last word');
	}
	t.is(copyDenial(ann, at('Photos/a', 'view')), undefined);
	t.is(moveDenial(ann, at('Photos/a', 'view'), at('Photos/b/a'))?.kind, 'forbidden');
	t.is(uploadDenial(ann, at('Photos', 'edit')), undefined);
	t.is(uploadDenial(ann, at(''))?.kind, 'forbidden');
	t.is(createFolderDenial(ann, at(''))?.kind, 'forbidden');
});

test('only an owner deletes forever, and only a shared folder itself is left', (t) => {
	const at = (area: Item['area'], path: string): Item => ({ area, path: parsePath(path) });
	t.is(deleteForeverDenial(ann, at('private', 'a')), undefined);
	t.is(deleteForeverDenial(ann, at('shared', 'Photos/a'))?.kind, 'notOwner');
	t.is(leaveDenial(ann, at('shared', 'Photos')), undefined);
	t.truthy(leaveDenial(ann, at('shared', 'Photos/a')));
	t.truthy(leaveDenial(ann, at('shared', '')));
	t.truthy(leaveDenial(ann, at('private', 'Photos')));
});
