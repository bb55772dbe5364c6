import { readFile } from 'node:fs/promises';
import test from 'ava';
import { glob } from './glob.js';
import { lineReader, type Node, parse, visit } from './syntax.js';

/** What tells how the page is at this moment: by the methods of a locator, and by the functions of the tests that call them. */
const reads = new Set([
	...['allInnerTexts', 'allTextContents', 'count', 'getAttribute', 'innerText', 'inputValue', 'isChecked'],
	...['isDisabled', 'isEditable', 'isEnabled', 'isHidden', 'isVisible', 'textContent'],
	...['listedPaths', 'menuItems', 'namesOf', 'selectedNames'],
]);

/** The lines in which a test asserts what the page shows at one moment, or waits for a time: the next machine is slower. */
function hastyLines(file: string, text: string): number[] {
	const lineOf = lineReader(text);
	const found = new Set<number>();
	visit(parse(file, text), (node) => {
		if (node.type !== 'CallExpression') return;
		const { object } = node.callee as { object?: Node };
		const isAssertion = object?.type === 'Identifier' && object.name === 't';
		if (calledName(node) === 'waitForTimeout') found.add(lineOf(node.start));
		if (isAssertion && (node.arguments as Node[]).some(awaitsRead)) found.add(lineOf(node.start));
	});
	return [...found];
}

function awaitsRead(argument: Node): boolean {
	let isRead = false;
	visit(argument, (node) => {
		if (node.type === 'AwaitExpression') visit(node, (inner) => (isRead ||= isReadCall(inner)));
	});
	return isRead;
}

const isReadCall = (node: Node) => node.type === 'CallExpression' && reads.has(calledName(node) ?? '');

function calledName(node: Node): string | undefined {
	const callee = node.callee as { name?: string; property?: { name?: string } };
	return callee.property?.name ?? callee.name;
}

test('no test of the page asserts what it shows at one moment: it waits by the functions of support/expect.ts', async (t) => {
	const files = await glob('test/e2e', /\.test\.ts$/);
	t.true(files.length > 30);
	const found = await Promise.all(
		files.map(async (file) => hastyLines(file, await readFile(file, 'utf8')).map((line) => `${file}:${line}`)),
	);
	t.deepEqual(found.flat(), []);
});

const hasty = test.macro({
	exec: (t, code: string) => t.deepEqual(hastyLines('a.ts', `async () => {\n${code}\n}`), [2]),
	title: (_, code) => `refused in a test of the page: ${code}`,
});
test(hasty, 't.is(await row.count(), 1);');
test(hasty, "t.regex((await page.getByRole('link').getAttribute('href')) ?? '', /a/);");
test(hasty, 't.deepEqual(await Promise.all([a, b].map((field) => field.inputValue())), []);');
test(hasty, 't.deepEqual((await namesOf(page)).slice(1), []);');
test(hasty, 'await page.waitForTimeout(40);');

const patient = test.macro({
	exec: (t, code: string) => t.deepEqual(hastyLines('a.ts', `async () => {\n${code}\n}`), []),
	title: (_, code) => `allowed in a test of the page: ${code}`,
});
test(patient, 'await eventually(t, () => row.count(), 1);');
test(patient, 'await absent(t, row);');
test(patient, "t.deepEqual(await readdir('a'), []);");
