import test from 'ava';
import fc from 'fast-check';
import {
	type Area,
	assertAllowed,
	browseDenial,
	convertDenial,
	copyDenial,
	copyToDenial,
	createFolderDenial,
	cutDenial,
	deleteDenial,
	Failure,
	type FailureKind,
	hasPlainLink,
	type Item,
	itemOf,
	type MoveDirection,
	moveDenial,
	moveDirection,
	moveToPrivateDenial,
	moveToPublicDenial,
	type Owner,
	parsePath,
	readDenial,
	renameDenial,
	temporaryLinkDenial,
	uploadDenial,
	type Viewer,
} from '../../src/index.js';

const ann: Viewer = { kind: 'user', id: '1', username: 'ann' };
const visitor: Viewer = { kind: 'anonymous' };

const privately = (path: string): Item => ({ area: 'private', path: parsePath(path) });
const publicly = (path: string, owner?: Owner): Item => ({ area: 'public', owner, path: parsePath(path) });

const allowed = test.macro((t, refusal: Failure | undefined) => t.is(refusal, undefined));
const refused = test.macro((t, refusal: Failure | undefined, kind: FailureKind, message?: string) => {
	t.is(refusal?.kind, kind);
	if (message !== undefined) t.is(refusal?.message, message);
});

test('assertAllowed throws a refusal and nothing else', (t) => {
	t.notThrows(() => assertAllowed(undefined));
	t.throws(() => assertAllowed(new Failure('forbidden', 'No')), { instanceOf: Failure, message: 'No' });
});

test('An entry of a listing is an item', (t) => {
	t.deepEqual(itemOf('public', { path: 'a/b', owner: null }), publicly('a/b', null));
});

// Browsing and reading
test('Anyone may browse the public area', allowed, browseDenial(visitor, 'public'));
test('A user may browse the private area', allowed, browseDenial(ann, 'private'));
test('A visitor may not browse the private area', refused, browseDenial(visitor, 'private'), 'notSignedIn');
test('A user reads their private files', allowed, readDenial(ann, privately('docs/a')));
test('A visitor reads no private files', refused, readDenial(visitor, privately('docs/a')), 'notSignedIn');
test("Nobody reads another's private files", refused, readDenial(ann, { ...privately('a'), owner: 'bob' }), 'notFound');
test(
	"Anyone with the link reads what is below anybody's public root",
	allowed,
	readDenial(visitor, publicly('a', 'bob')),
);
test("Nobody reads another's whole public root", refused, readDenial(ann, publicly('', 'bob')), 'notFound');
test('A root that nobody may read is not named by its empty path', (t) => {
	t.is(readDenial(ann, publicly('', 'bob'))?.message, 'There is no such file or folder.');
});
test('A visitor reads no user’s public root', refused, readDenial(visitor, publicly('', 'ann')), 'notFound');
test('A user reads their own public root', allowed, readDenial(ann, publicly('', 'ann')));
test('A visitor reads the ownerless public root', allowed, readDenial(visitor, publicly('', null)));
test('Anyone reads the root of what they see', allowed, readDenial(visitor, publicly('')));
test("Where everyone is listed, another's root is read", allowed, readDenial(ann, publicly('', 'bob'), 'everyone'));

// Uploading
const rootOnly = 'Anonymous uploads/folders are only allowed at the root public folder.';
test('A visitor uploads at the public root', allowed, uploadDenial(visitor, publicly('')));
test('A visitor may name the anonymous tree', allowed, uploadDenial(visitor, publicly('', 'anonymous')));
test('A visitor uploads nowhere else', refused, uploadDenial(visitor, publicly('docs')), 'forbidden', rootOnly);
test('A visitor uploads into no other tree', refused, uploadDenial(visitor, publicly('', null)), 'notOwner');
test('A visitor uploads nothing private', refused, uploadDenial(visitor, privately('')), 'notSignedIn');
test('A user uploads in private at any depth', allowed, uploadDenial(ann, privately('a/b')));
test('A user uploads below Public in private', allowed, uploadDenial(ann, privately('Public/b')));
test('A user uploads in public at any depth', allowed, uploadDenial(ann, publicly('a/b', 'ann')));
test('A user uploads into no tree of another', refused, uploadDenial(ann, publicly('a', 'bob')), 'notOwner');
test('A user uploads into no ownerless tree', refused, uploadDenial(ann, publicly('', null)), 'notOwner');

// Creating folders
const login = 'You must be logged in to create folders in public.';
test('A user creates folders in public', allowed, createFolderDenial(ann, publicly('a')));
test('A user creates folders in private', allowed, createFolderDenial(ann, privately('')));
test(
	'A visitor creates no folders in public',
	refused,
	createFolderDenial(visitor, publicly('')),
	'notSignedIn',
	login,
);
test('A visitor creates no folders in private', refused, createFolderDenial(visitor, privately('')), 'notSignedIn');
test("A user creates no folders in another's tree", refused, createFolderDenial(ann, publicly('', 'bob')), 'notOwner');

// Changing what is there
const notOwned = 'You do not own any of the selected items';
const verbs = {
	rename: { refuse: renameDenial, foreign: notOwned },
	delete: { refuse: deleteDenial, foreign: notOwned },
	cut: { refuse: cutDenial, foreign: 'Cannot cut files you do not own' },
} as const;
for (const [verb, { refuse, foreign }] of Object.entries(verbs)) {
	const guarded = `Cannot ${verb} protected folders`;
	test(`To ${verb} one's own private item is allowed`, allowed, refuse(ann, privately('docs/a')));
	test(`To ${verb} one's own public item is allowed`, allowed, refuse(ann, publicly('a', 'ann')));
	test(`To ${verb} a public item without naming an owner means one's own`, allowed, refuse(ann, publicly('a')));
	test(`To ${verb} what lies in Public is allowed`, allowed, refuse(ann, privately('Public/a')));
	test(`To ${verb} a deeper folder named Public is allowed`, allowed, refuse(ann, privately('docs/Public')));
	test(
		`A visitor may not ${verb} what visitors uploaded`,
		refused,
		refuse(visitor, publicly('a', 'anonymous')),
		'notSignedIn',
	);
	test(`To ${verb} another's item is refused`, refused, refuse(ann, publicly('a', 'bob')), 'notOwner', foreign);
	test(`To ${verb} an ownerless item is refused`, refused, refuse(ann, publicly('a', null)), 'notOwner', foreign);
	test(`To ${verb} Public is refused`, refused, refuse(ann, privately('Public')), 'protected', guarded);
	test(`To ${verb} the private root is refused`, refused, refuse(ann, privately('')), 'protected', guarded);
	test(`To ${verb} one's public root is refused`, refused, refuse(ann, publicly('')), 'protected', guarded);
}

// Copying
test("To copy another's public item is allowed", allowed, copyDenial(ann, publicly('a', 'bob')));
test(
	'To copy Public is refused',
	refused,
	copyDenial(ann, privately('Public')),
	'protected',
	'Cannot copy protected folders',
);
test('To copy a public root is refused', refused, copyDenial(ann, publicly('', null)), 'protected');
test('A visitor copies nothing', refused, copyDenial(visitor, publicly('a', null)), 'notSignedIn');
test('To copy into the same folder is allowed', allowed, copyToDenial(ann, privately('a/b'), privately('a/b')));
test('To copy from public to private is allowed', allowed, copyToDenial(ann, publicly('b', 'bob'), privately('b/b')));
test(
	'To copy from an own public folder to private is allowed',
	allowed,
	copyToDenial(ann, publicly('b', 'ann'), privately('b/b')),
);
test(
	"To copy into another's tree is refused",
	refused,
	copyToDenial(ann, privately('a'), publicly('a', 'bob')),
	'notOwner',
);
test(
	'To copy a folder into itself is refused',
	refused,
	copyToDenial(ann, privately('a'), privately('a/a')),
	'invalid',
);
test(
	'To copy a folder below itself is refused',
	refused,
	copyToDenial(ann, privately('a'), privately('a/b/a')),
	'invalid',
);
test(
	'To copy a folder into itself through the other area is refused',
	refused,
	copyToDenial(ann, privately('Public/a'), publicly('a/a')),
	'invalid',
);

// Moving
test('To move into another folder is allowed', allowed, moveDenial(ann, privately('a/b'), privately('c/b')));
test('To move upwards is allowed', allowed, moveDenial(ann, privately('a/b'), privately('b')));
test('To move between areas is allowed', allowed, moveDenial(ann, privately('a'), publicly('a')));
test(
	'To move beside a folder with a longer name is allowed',
	allowed,
	moveDenial(ann, privately('a'), privately('a2/a')),
);
test(
	'To move within the same folder is refused',
	refused,
	moveDenial(ann, privately('a/b'), privately('a/c')),
	'invalid',
);
test('To move within the root is refused', refused, moveDenial(ann, privately('a'), privately('b')), 'invalid');
test(
	'To move to the same folder through the other area is refused',
	refused,
	moveDenial(ann, publicly('a'), privately('Public/b')),
	'invalid',
);
test('To move a folder into itself is refused', refused, moveDenial(ann, privately('a'), privately('a/a')), 'invalid');
test(
	'To move a folder below itself is refused',
	refused,
	moveDenial(ann, privately('a'), privately('a/b/a')),
	'invalid',
);
test(
	'To move Public is refused',
	refused,
	moveDenial(ann, privately('Public'), privately('a/Public')),
	'protected',
	'Cannot move protected folders',
);
test("To move another's item is refused", refused, moveDenial(ann, publicly('a', 'bob'), publicly('b/a')), 'notOwner');
test(
	"To move into another's tree is refused",
	refused,
	moveDenial(ann, privately('a'), publicly('a', null)),
	'notOwner',
);
test(
	'A visitor moves nothing',
	refused,
	moveDenial(visitor, publicly('a', 'anonymous'), publicly('b/a')),
	'notSignedIn',
);

// Between the areas
const leads = test.macro((t, from: Item, to: Item, direction: MoveDirection | undefined) =>
	t.is(moveDirection(from, to), direction),
);
test('From private into Public is a move to public', leads, privately('a'), privately('Public/a'), 'toPublic');
test('From private to the public area is a move to public', leads, privately('a'), publicly('b/a'), 'toPublic');
test('Out of Public is a move to private', leads, privately('Public/a'), privately('a'), 'toPrivate');
test('From the public area to private is a move to private', leads, publicly('a'), privately('a'), 'toPrivate');
test('Within Public is neither', leads, privately('Public/a'), publicly('b/a'), undefined);
test('Beside Public is neither', leads, privately('a'), privately('Public notes/a'), undefined);

test('Whichever area names its ends, a move to public or back asks the same rule', (t) => {
	const names = fc.constantFrom('a', 'Public', 'Public/a', 'Public/a/b', 'docs/a', 'Publications/a');
	const item = fc.oneof(
		names.map(privately),
		names.map((name) => publicly(name)),
	);
	fc.assert(
		fc.property(fc.constantFrom(ann, visitor), item, item, (viewer, from, to) => {
			const direction = moveDirection(from, to);
			if (direction === undefined) return;
			const inHome = privately([from.area === 'public' ? 'Public' : '', from.path].filter(Boolean).join('/'));
			const below = inHome.path.slice('Public/'.length);
			const rule =
				direction === 'toPublic' ? moveToPublicDenial(viewer, inHome) : moveToPrivateDenial(viewer, publicly(below));
			const refusal = moveDenial(viewer, from, to);
			if (rule) t.is(refusal?.message, rule.message);
			else t.not(refusal?.kind, 'protected');
		}),
	);
});

test('A private item may move to public', allowed, moveToPublicDenial(ann, privately('docs/a')));
test(
	'What is below Public does not move to public',
	refused,
	moveToPublicDenial(ann, privately('Public/a')),
	'invalid',
);
test('Public does not move to public', refused, moveToPublicDenial(ann, privately('Public')), 'protected');
test('A public item does not move to public', refused, moveToPublicDenial(ann, publicly('a')), 'invalid');
test('A visitor moves nothing to public', refused, moveToPublicDenial(visitor, privately('a')), 'notSignedIn');
test('An own public item may move back', allowed, moveToPrivateDenial(ann, publicly('a', 'ann')));
test(
	"Another's item does not move back",
	refused,
	moveToPrivateDenial(ann, publicly('a', 'bob')),
	'notOwner',
	notOwned,
);
test(
	"A visitor's upload does not move back",
	refused,
	moveToPrivateDenial(ann, publicly('a', 'anonymous')),
	'notOwner',
);
test('A private item does not move back', refused, moveToPrivateDenial(ann, privately('Public/a')), 'invalid');
test('The public root does not move back', refused, moveToPrivateDenial(ann, publicly('')), 'protected');

// Links
test('A private item can have a temporary link', allowed, temporaryLinkDenial(ann, privately('docs/a')));
test('What is below Public has no temporary link', refused, temporaryLinkDenial(ann, privately('Public/a')), 'invalid');
test('Public has no temporary link', refused, temporaryLinkDenial(ann, privately('Public')), 'invalid');
test('A public item has no temporary link', refused, temporaryLinkDenial(ann, publicly('a')), 'invalid');
test('A whole home has no temporary link', refused, temporaryLinkDenial(ann, privately('')), 'invalid');
test('A visitor makes no temporary links', refused, temporaryLinkDenial(visitor, privately('a')), 'notSignedIn');
test('What lies below a public root has a plain link', (t) => {
	t.true(hasPlainLink(publicly('a', 'bob')));
	t.true(hasPlainLink(privately('Public/a')));
	t.false(hasPlainLink(privately('Public')));
	t.false(hasPlainLink(publicly('')));
	t.false(hasPlainLink(privately('Public2/a')));
});

// Converting
test('A user converts their own files', allowed, convertDenial(ann, publicly('a.avi', 'ann')));
test("A user converts no file of another's", refused, convertDenial(ann, publicly('a.avi', 'bob')), 'notOwner');
test('A visitor converts nothing', refused, convertDenial(visitor, publicly('a.avi', 'anonymous')), 'notSignedIn');

const item: fc.Arbitrary<Item> = fc.record({
	area: fc.constantFrom<Area>('private', 'public'),
	owner: fc.constantFrom<Owner | undefined>(undefined, null, 'ann', 'bob', 'anonymous'),
	path: fc.constantFrom('', 'a', 'a/b', 'Public', 'Public/a').map(parsePath),
});
const changes = [
	renameDenial,
	deleteDenial,
	cutDenial,
	moveToPublicDenial,
	moveToPrivateDenial,
	temporaryLinkDenial,
	convertDenial,
];
const change = fc.constantFrom(...changes, createFolderDenial);

test('A visitor is asked to sign in for every call but reading and uploading', (t) => {
	fc.assert(fc.property(change, item, (refuse, each) => refuse(visitor, each)?.kind === 'notSignedIn'));
	t.pass();
});

test('Another owner is refused by every call that writes', (t) => {
	const foreign = item.filter(({ owner }) => owner !== undefined && owner !== 'ann');
	fc.assert(
		fc.property(fc.constantFrom(...changes, createFolderDenial, uploadDenial), foreign, (refuse, each) => {
			return refuse(ann, each)?.kind === 'notOwner';
		}),
	);
	t.pass();
});
