import test from 'ava';
import {
	type Clipboard,
	type ClipboardItem,
	moveToOtherArea,
	type Owner,
	parsePath,
	pasteResult,
	planPaste,
	rootPath,
	splitOwned,
	type Viewer,
} from '../../src/index.js';

const ann: Viewer = { kind: 'user', id: '1', username: 'ann' };
const visitor: Viewer = { kind: 'anonymous', access: 'upload' };

function item(path: string, owner?: Owner, type: 'file' | 'directory' = 'file'): ClipboardItem {
	return { name: path.slice(path.lastIndexOf('/') + 1), path, owner, type };
}

function clipboard(operation: 'cut' | 'copy', sourceArea: 'private' | 'public', ...items: ClipboardItem[]): Clipboard {
	return { operation, items, sourceArea, sourceDirectory: parsePath('docs') };
}

const archive = parsePath('archive');

test('a paste of cut items is a plan of moves', (t) => {
	const a = item('docs/a.txt');
	t.deepEqual(planPaste(clipboard('cut', 'private', a), ann, 'private', archive), {
		kind: 'move',
		steps: [{ item: a, type: 'private', fromPath: parsePath('docs/a.txt'), toPath: parsePath('archive/a.txt') }],
		skipped: [],
	});
});

test('a move to the other area keeps the path', (t) => {
	const a = item('docs/a.txt');
	const inPublic = parsePath('Public/docs/a.txt');
	t.deepEqual(moveToOtherArea('toPublic', a), {
		item: a,
		type: 'private',
		fromPath: parsePath(a.path),
		toPath: inPublic,
	});
	const b = item('docs/a.txt', 'ann');
	t.deepEqual(moveToOtherArea('toPrivate', b), {
		item: b,
		type: 'private',
		fromPath: inPublic,
		toPath: parsePath(b.path),
	});
});

test('a paste of cut items between areas uses paths of the home', (t) => {
	const a = item('docs/a.txt');
	t.deepEqual(planPaste(clipboard('cut', 'private', a), ann, 'public', archive), {
		kind: 'move',
		steps: [{ item: a, type: 'private', fromPath: parsePath('docs/a.txt'), toPath: parsePath('Public/archive/a.txt') }],
		skipped: [],
	});
	const b = item('docs/b.txt', 'ann');
	t.deepEqual(planPaste(clipboard('cut', 'public', b), ann, 'private', rootPath), {
		kind: 'move',
		steps: [{ item: b, type: 'private', fromPath: parsePath('Public/docs/b.txt'), toPath: parsePath('b.txt') }],
		skipped: [],
	});
});

test("a paste of copied items names the area and the owner of the source, also of another user's item", (t) => {
	const a = item('docs/a.txt', 'bob');
	t.deepEqual(planPaste(clipboard('copy', 'public', a), ann, 'private', archive), {
		kind: 'copy',
		steps: [
			{
				item: a,
				type: 'private',
				fromType: 'public',
				owner: 'bob',
				fromPath: parsePath('docs/a.txt'),
				toPath: parsePath('archive/a.txt'),
			},
		],
		skipped: [],
	});
});

test('a copy into the same folder is planned under its own name', (t) => {
	const plan = planPaste(clipboard('copy', 'private', item('docs/a.txt')), ann, 'private', parsePath('docs'));
	t.is(plan.kind, 'copy');
	if (plan.kind === 'copy') t.is<string | undefined, string>(plan.steps[0]?.toPath, 'docs/a.txt');
});

const refused = test.macro((t, plan: ReturnType<typeof planPaste>, message: string) => {
	t.is(plan.kind, 'refused');
	if (plan.kind === 'refused') t.is(plan.refusal.message, message);
});
test(
	'a paste of cut items into their own folder is refused',
	refused,
	planPaste(clipboard('cut', 'private', item('docs/a'), item('docs/b')), ann, 'private', parsePath('docs')),
	'Cannot move an item into the folder that it is in',
);
test(
	'a paste of a cut item into its own folder through the other area is refused',
	refused,
	planPaste(clipboard('cut', 'private', item('Public/docs/a')), ann, 'public', parsePath('docs')),
	'Cannot move an item into the folder that it is in',
);
test(
	'a paste of an empty clipboard is refused',
	refused,
	planPaste(clipboard('cut', 'private'), ann, 'private', archive),
	'Nothing to paste',
);
test(
	'a paste by a visitor is refused',
	refused,
	planPaste(clipboard('copy', 'public', item('a', null)), visitor, 'public', archive),
	'You must be logged in to do that.',
);

test('a paste skips a cut item of another user and returns the reason', (t) => {
	const foreign = item('docs/a', 'bob');
	const own = item('docs/b', 'ann');
	const moved = planPaste(clipboard('cut', 'public', foreign, own), ann, 'private', archive);
	t.is(moved.kind, 'move');
	if (moved.kind !== 'move') return;
	t.deepEqual(
		moved.steps.map((step) => step.item),
		[own],
	);
	t.deepEqual(
		moved.skipped.map(({ item: each, refusal }) => [each, refusal.message]),
		[[foreign, 'Cannot cut files you do not own']],
	);
});

test('a paste skips a protected folder and a folder that contains the target', (t) => {
	const chosen = [item('Public', undefined, 'directory'), item('archive', undefined, 'directory'), item('a')];
	const plan = planPaste(clipboard('copy', 'private', ...chosen), ann, 'private', archive);
	t.is(plan.kind, 'copy');
	if (plan.kind !== 'copy') return;
	t.deepEqual(
		plan.steps.map((step) => step.item.path),
		['a'],
	);
	t.deepEqual(
		plan.skipped.map(({ refusal }) => refusal.message),
		['Cannot copy protected folders', 'Cannot copy a folder into itself'],
	);
});

test('the result of a paste counts pasted and failed items', (t) => {
	t.is(pasteResult(3, 2), 'Pasted 3 items. 2 failed.');
	t.is(pasteResult(1, 0), 'Pasted 1 item. 0 failed.');
});

test('a selection is split into owned and skipped items', (t) => {
	const [own, foreign, ownerless, home] = [item('a', 'ann'), item('b', 'bob'), item('c', null), item('d')];
	t.deepEqual(splitOwned([own, foreign, ownerless, home], ann), {
		owned: [own, home],
		skipped: [foreign, ownerless],
		message: 'Skipped 2 items that you do not own',
	});
	t.deepEqual(splitOwned([own], ann), { owned: [own], skipped: [], message: undefined });
});

test('the message for a selection without owned items says that none is owned', (t) => {
	const foreign = item('b', 'bob');
	t.is(splitOwned([foreign], ann).message, 'You do not own any of the selected items');
	t.is(splitOwned([item('c', 'anonymous')], visitor).message, 'You do not own any of the selected items');
});

test('what moves into a shared folder or out of one is a step across, with its paths in both areas', (t) => {
	const across = (from: Clipboard['sourceArea'], path: string, to: Clipboard['sourceArea'], folder: string) => {
		const cut: Clipboard = {
			operation: 'cut',
			items: [item(path)],
			sourceArea: from,
			sourceDirectory: rootPath,
		};
		const plan = planPaste(cut, ann, to, parsePath(folder));
		return plan.kind === 'move' ? plan.steps.map(({ item: _, ...step }) => step) : plan;
	};
	const step = (type: string, fromPath: string, toPath: string) => [{ type, fromPath, toPath, isAcross: true }];
	t.like(across('private', 'docs/a.txt', 'shared', 'Photos'), step('shared', 'docs/a.txt', 'Photos/a.txt'));
	t.like(across('shared', 'Photos/a.txt', 'private', 'docs'), step('private', 'Photos/a.txt', 'docs/a.txt'));
	t.like(across('public', 'a.txt', 'shared', 'Photos'), step('shared', 'a.txt', 'Photos/a.txt'));
	t.deepEqual(across('shared', 'Photos/a.txt', 'shared', 'Photos/2030'), [
		{ type: 'shared', fromPath: parsePath('Photos/a.txt'), toPath: parsePath('Photos/2030/a.txt') },
	]);
	t.like(across('shared', 'Photos/a.txt', 'public', ''), { kind: 'refused', refusal: { kind: 'invalid' } });
});
