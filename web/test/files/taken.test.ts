import { type Entry, type MoveStep, parsePath } from '@stowage/rules';
import test from 'ava';
import {
	answer,
	type Questions,
	type Resolution,
	resolveSteps,
	takenSteps,
	unanswered,
} from '../../src/features/files/operations/taken.js';

/** Names of folders end in a slash. */
const entry = (path: string, owner?: string): Entry => ({
	name: path.replace(/^.*\/(?=.)/, '').replace('/', ''),
	path: path.replace(/\/$/, ''),
	type: path.endsWith('/') ? 'directory' : 'file',
	size: 1,
	mtime: 1,
	...(owner === undefined ? {} : { owner }),
});

/** Moves to a folder. */
const steps = (...paths: string[]): MoveStep[] =>
	paths.map((path) => {
		const item = entry(path);
		return { item, type: 'private', fromPath: parsePath(item.path), toPath: parsePath(`to/${item.name}`) };
	});

const names = (...paths: string[]) => new Map(paths.map((path) => entry(path)).map((each) => [each.name, each]));
const takenOf = (moved: MoveStep[], ...there: string[]) => takenSteps(moved, 'private', 'private', names(...there));
const asked = (questions: Questions) => unanswered(questions).map(({ step }) => step.item.name);

test('items whose names are taken are asked about, and only a file replaces a file', (t) => {
	const taken = takenOf(steps('a', 'b', 'c/', 'd/', 'e'), 'to/a', 'to/b/', 'to/c/', 'to/d');
	t.deepEqual(
		taken.map(({ step, mayReplace }) => [step.item.name, mayReplace]),
		[
			['a', true],
			['b', false],
			['c', false],
			['d', false],
		],
	);
});

test('a copy beside its original is not asked about, but one of the same path in the other area is', (t) => {
	const copies = steps('to/a');
	t.deepEqual(takenOf(copies, 'to/a'), []);
	t.is(takenSteps(copies, 'public', 'private', names('to/a')).length, 1);
	const mine = new Map([['a', entry('to/a', 'ada')]]);
	t.is(takenSteps(copies, 'public', 'public', mine).length, 1);
});

test('of two items with one name only the first may replace what has it', (t) => {
	t.is(takenOf(steps('x/a', 'y/a'), 'to/a').length, 1);
});

test('one answer is for one item, or for all that it is possible for', (t) => {
	let questions: Questions = {
		taken: takenOf(steps('a', 'b', 'c/', 'd'), 'to/a', 'to/b', 'to/c', 'to/d'),
		answers: new Map(),
	};
	t.deepEqual(asked(questions), ['a', 'b', 'c', 'd']);
	questions = answer(questions, 'skip', false);
	t.deepEqual(asked(questions), ['b', 'c', 'd']);
	questions = answer(questions, 'replace', true);
	t.deepEqual(asked(questions), ['c']);
	t.deepEqual(asked(answer(questions, 'rename', true)), []);
});

test('what is skipped is left out, and what replaces a file knows which', (t) => {
	const moved = steps('a', 'b', 'c', 'd');
	let questions: Questions = { taken: takenOf(moved, 'to/a', 'to/b', 'to/c'), answers: new Map() };
	for (const resolution of ['rename', 'replace', 'skip'] satisfies Resolution[]) {
		questions = answer(questions, resolution, false);
	}
	const { steps: left, passedOver } = resolveSteps(moved, questions);
	t.deepEqual(
		left.map(({ item, replaced }) => [item.name, replaced?.path]),
		[
			['a', undefined],
			['b', 'to/b'],
			['d', undefined],
		],
	);
	t.is(passedOver, 1);
});
