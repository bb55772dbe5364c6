import test from 'ava';
import fc from 'fast-check';
import {
	type Area,
	demand,
	Failure,
	type FailureKind,
	hasPlainLink,
	type Item,
	itemOf,
	type MoveDirection,
	moveDirection,
	type Owner,
	parsePath,
	refuseBrowse,
	refuseConvert,
	refuseCopy,
	refuseCopyTo,
	refuseCreateFolder,
	refuseCut,
	refuseDelete,
	refuseMove,
	refuseMoveToPrivate,
	refuseMoveToPublic,
	refuseRead,
	refuseRename,
	refuseTemporaryLink,
	refuseUpload,
	type Viewer,
} from '../src/index.js';

const ann: Viewer = { kind: 'user', id: '1', username: 'ann' };
const visitor: Viewer = { kind: 'anonymous' };

const privately = (path: string): Item => ({ area: 'private', path: parsePath(path) });
const publicly = (path: string, owner?: Owner): Item => ({ area: 'public', owner, path: parsePath(path) });

const allowed = test.macro((t, refusal: Failure | undefined) => t.is(refusal, undefined));
const refused = test.macro((t, refusal: Failure | undefined, kind: FailureKind, message?: string) => {
	t.is(refusal?.kind, kind);
	if (message !== undefined) t.is(refusal?.message, message);
});

test('demand throws a refusal and nothing else', (t) => {
	t.notThrows(() => demand(undefined));
	t.throws(() => demand(new Failure('forbidden', 'No')), { instanceOf: Failure, message: 'No' });
});

test('An entry of a listing is an item', (t) => {
	t.deepEqual(itemOf('public', { path: 'a/b', owner: null }), publicly('a/b', null));
});

// Browsing and reading
test('Anyone may browse the public area', allowed, refuseBrowse(visitor, 'public'));
test('A user may browse the private area', allowed, refuseBrowse(ann, 'private'));
test('A visitor may not browse the private area', refused, refuseBrowse(visitor, 'private'), 'notSignedIn');
test('A user reads their private files', allowed, refuseRead(ann, privately('docs/a')));
test('A visitor reads no private files', refused, refuseRead(visitor, privately('docs/a')), 'notSignedIn');
test("Nobody reads another's private files", refused, refuseRead(ann, { ...privately('a'), owner: 'bob' }), 'notFound');
test(
	"Anyone with the link reads what is below anybody's public root",
	allowed,
	refuseRead(visitor, publicly('a', 'bob')),
);
test("Nobody reads another's whole public root", refused, refuseRead(ann, publicly('', 'bob')), 'notFound');
test('A root that nobody may read is not named by its empty path', (t) => {
	t.is(refuseRead(ann, publicly('', 'bob'))?.message, 'There is no such file or folder.');
});
test('A visitor reads no user’s public root', refused, refuseRead(visitor, publicly('', 'ann')), 'notFound');
test('A user reads their own public root', allowed, refuseRead(ann, publicly('', 'ann')));
test('A visitor reads the ownerless public root', allowed, refuseRead(visitor, publicly('', null)));
test('Anyone reads the root of what they see', allowed, refuseRead(visitor, publicly('')));
test("Where everyone is listed, another's root is read", allowed, refuseRead(ann, publicly('', 'bob'), 'everyone'));

// Uploading
const rootOnly = 'Anonymous uploads/folders are only allowed at the root public folder.';
test('A visitor uploads at the public root', allowed, refuseUpload(visitor, publicly('')));
test('A visitor may name the anonymous tree', allowed, refuseUpload(visitor, publicly('', 'anonymous')));
test('A visitor uploads nowhere else', refused, refuseUpload(visitor, publicly('docs')), 'forbidden', rootOnly);
test('A visitor uploads into no other tree', refused, refuseUpload(visitor, publicly('', null)), 'notOwner');
test('A visitor uploads nothing private', refused, refuseUpload(visitor, privately('')), 'notSignedIn');
test('A user uploads in private at any depth', allowed, refuseUpload(ann, privately('a/b')));
test('A user uploads below Public in private', allowed, refuseUpload(ann, privately('Public/b')));
test('A user uploads in public at any depth', allowed, refuseUpload(ann, publicly('a/b', 'ann')));
test('A user uploads into no tree of another', refused, refuseUpload(ann, publicly('a', 'bob')), 'notOwner');
test('A user uploads into no ownerless tree', refused, refuseUpload(ann, publicly('', null)), 'notOwner');

// Creating folders
const login = 'You must be logged in to create folders in public.';
test('A user creates folders in public', allowed, refuseCreateFolder(ann, publicly('a')));
test('A user creates folders in private', allowed, refuseCreateFolder(ann, privately('')));
test(
	'A visitor creates no folders in public',
	refused,
	refuseCreateFolder(visitor, publicly('')),
	'notSignedIn',
	login,
);
test('A visitor creates no folders in private', refused, refuseCreateFolder(visitor, privately('')), 'notSignedIn');
test("A user creates no folders in another's tree", refused, refuseCreateFolder(ann, publicly('', 'bob')), 'notOwner');

// Changing what is there
const notOwned = 'You do not own any of the selected items';
const verbs = {
	rename: { refuse: refuseRename, foreign: notOwned },
	delete: { refuse: refuseDelete, foreign: notOwned },
	cut: { refuse: refuseCut, foreign: 'Cannot cut files you do not own' },
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
test("To copy another's public item is allowed", allowed, refuseCopy(ann, publicly('a', 'bob')));
test(
	'To copy Public is refused',
	refused,
	refuseCopy(ann, privately('Public')),
	'protected',
	'Cannot copy protected folders',
);
test('To copy a public root is refused', refused, refuseCopy(ann, publicly('', null)), 'protected');
test('A visitor copies nothing', refused, refuseCopy(visitor, publicly('a', null)), 'notSignedIn');
test('To copy into the same folder is allowed', allowed, refuseCopyTo(ann, privately('a/b'), privately('a/b')));
test('To copy from public to private is allowed', allowed, refuseCopyTo(ann, publicly('b', 'bob'), privately('b/b')));
test(
	'To copy from an own public folder to private is allowed',
	allowed,
	refuseCopyTo(ann, publicly('b', 'ann'), privately('b/b')),
);
test(
	"To copy into another's tree is refused",
	refused,
	refuseCopyTo(ann, privately('a'), publicly('a', 'bob')),
	'notOwner',
);
test(
	'To copy a folder into itself is refused',
	refused,
	refuseCopyTo(ann, privately('a'), privately('a/a')),
	'invalid',
);
test(
	'To copy a folder below itself is refused',
	refused,
	refuseCopyTo(ann, privately('a'), privately('a/b/a')),
	'invalid',
);
test(
	'To copy a folder into itself through the other area is refused',
	refused,
	refuseCopyTo(ann, privately('Public/a'), publicly('a/a')),
	'invalid',
);

// Moving
test('To move into another folder is allowed', allowed, refuseMove(ann, privately('a/b'), privately('c/b')));
test('To move upwards is allowed', allowed, refuseMove(ann, privately('a/b'), privately('b')));
test('To move between areas is allowed', allowed, refuseMove(ann, privately('a'), publicly('a')));
test(
	'To move beside a folder with a longer name is allowed',
	allowed,
	refuseMove(ann, privately('a'), privately('a2/a')),
);
test(
	'To move within the same folder is refused',
	refused,
	refuseMove(ann, privately('a/b'), privately('a/c')),
	'invalid',
);
test('To move within the root is refused', refused, refuseMove(ann, privately('a'), privately('b')), 'invalid');
test(
	'To move to the same folder through the other area is refused',
	refused,
	refuseMove(ann, publicly('a'), privately('Public/b')),
	'invalid',
);
test('To move a folder into itself is refused', refused, refuseMove(ann, privately('a'), privately('a/a')), 'invalid');
test(
	'To move a folder below itself is refused',
	refused,
	refuseMove(ann, privately('a'), privately('a/b/a')),
	'invalid',
);
test(
	'To move Public is refused',
	refused,
	refuseMove(ann, privately('Public'), privately('a/Public')),
	'protected',
	'Cannot move protected folders',
);
test("To move another's item is refused", refused, refuseMove(ann, publicly('a', 'bob'), publicly('b/a')), 'notOwner');
test(
	"To move into another's tree is refused",
	refused,
	refuseMove(ann, privately('a'), publicly('a', null)),
	'notOwner',
);
test(
	'A visitor moves nothing',
	refused,
	refuseMove(visitor, publicly('a', 'anonymous'), publicly('b/a')),
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
				direction === 'toPublic' ? refuseMoveToPublic(viewer, inHome) : refuseMoveToPrivate(viewer, publicly(below));
			const refusal = refuseMove(viewer, from, to);
			if (rule) t.is(refusal?.message, rule.message);
			else t.not(refusal?.kind, 'protected');
		}),
	);
});

test('A private item may move to public', allowed, refuseMoveToPublic(ann, privately('docs/a')));
test(
	'What is below Public does not move to public',
	refused,
	refuseMoveToPublic(ann, privately('Public/a')),
	'invalid',
);
test('Public does not move to public', refused, refuseMoveToPublic(ann, privately('Public')), 'protected');
test('A public item does not move to public', refused, refuseMoveToPublic(ann, publicly('a')), 'invalid');
test('A visitor moves nothing to public', refused, refuseMoveToPublic(visitor, privately('a')), 'notSignedIn');
test('An own public item may move back', allowed, refuseMoveToPrivate(ann, publicly('a', 'ann')));
test(
	"Another's item does not move back",
	refused,
	refuseMoveToPrivate(ann, publicly('a', 'bob')),
	'notOwner',
	notOwned,
);
test(
	"A visitor's upload does not move back",
	refused,
	refuseMoveToPrivate(ann, publicly('a', 'anonymous')),
	'notOwner',
);
test('A private item does not move back', refused, refuseMoveToPrivate(ann, privately('Public/a')), 'invalid');
test('The public root does not move back', refused, refuseMoveToPrivate(ann, publicly('')), 'protected');

// Links
test('A private item can have a temporary link', allowed, refuseTemporaryLink(ann, privately('docs/a')));
test('What is below Public has no temporary link', refused, refuseTemporaryLink(ann, privately('Public/a')), 'invalid');
test('Public has no temporary link', refused, refuseTemporaryLink(ann, privately('Public')), 'invalid');
test('A public item has no temporary link', refused, refuseTemporaryLink(ann, publicly('a')), 'invalid');
test('A whole home has no temporary link', refused, refuseTemporaryLink(ann, privately('')), 'invalid');
test('A visitor makes no temporary links', refused, refuseTemporaryLink(visitor, privately('a')), 'notSignedIn');
test('What lies below a public root has a plain link', (t) => {
	t.true(hasPlainLink(publicly('a', 'bob')));
	t.true(hasPlainLink(privately('Public/a')));
	t.false(hasPlainLink(privately('Public')));
	t.false(hasPlainLink(publicly('')));
	t.false(hasPlainLink(privately('Public2/a')));
});

// Converting
test('A user converts their own files', allowed, refuseConvert(ann, publicly('a.avi', 'ann')));
test("A user converts no file of another's", refused, refuseConvert(ann, publicly('a.avi', 'bob')), 'notOwner');
test('A visitor converts nothing', refused, refuseConvert(visitor, publicly('a.avi', 'anonymous')), 'notSignedIn');

const item: fc.Arbitrary<Item> = fc.record({
	area: fc.constantFrom<Area>('private', 'public'),
	owner: fc.constantFrom<Owner | undefined>(undefined, null, 'ann', 'bob', 'anonymous'),
	path: fc.constantFrom('', 'a', 'a/b', 'Public', 'Public/a').map(parsePath),
});
const changes = [
	refuseRename,
	refuseDelete,
	refuseCut,
	refuseMoveToPublic,
	refuseMoveToPrivate,
	refuseTemporaryLink,
	refuseConvert,
];
const change = fc.constantFrom(...changes, refuseCreateFolder);

test('A visitor is asked to sign in for every call but reading and uploading', (t) => {
	fc.assert(fc.property(change, item, (refuse, each) => refuse(visitor, each)?.kind === 'notSignedIn'));
	t.pass();
});

test('Another owner is refused by every call that writes', (t) => {
	const foreign = item.filter(({ owner }) => owner !== undefined && owner !== 'ann');
	fc.assert(
		fc.property(fc.constantFrom(...changes, refuseCreateFolder, refuseUpload), foreign, (refuse, each) => {
			return refuse(ann, each)?.kind === 'notOwner';
		}),
	);
	t.pass();
});
