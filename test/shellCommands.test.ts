import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import test from 'ava';
import { shellCommand, shellWord } from '../packages/core/src/shellCommand.js';
import { glob } from './glob.js';
import { lineReader, type Node, parse, visit } from './syntax.js';

const run = promisify(execFile);

test('a word of a command line is understood by bash as the bytes that it stands for', async (t) => {
	for (const bytes of ['plain', 'two words', "it's", '$(id) `id` \\ "', 'é\u202e', "\xe9\x01\n'\\", '']) {
		const word = Buffer.from(bytes, bytes.includes('\xe9\x01') ? 'latin1' : 'utf8');
		const { stdout } = await run('bash', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'buffer' });
		t.deepEqual(stdout, word);
	}
});

test('each value of a command line is one word of it, and none begins an option', async (t) => {
	const name = 'x; touch PWNED # ada';
	t.is(shellCommand`stowage user rename ${name} ${'ada'}`, "stowage user rename 'x; touch PWNED # ada' ada");
	t.is(shellCommand`stowage job cancel ${'--config=/tmp/a'}`, "stowage job cancel -- '--config=/tmp/a'");
	t.is(shellCommand`chmod o= ${'-a'} ${Buffer.from('-b')}`, 'chmod o= -- -a -b');
	t.is(shellCommand`stowage root add --driver=${'-x'} ${'-y'}`, 'stowage root add --driver=-x -- -y');
	const { stdout } = await run('bash', ['-c', `printf '%s|' ${shellCommand`${name} ${'$(id)'} ${''}`}`]);
	t.is(stdout, `${name}|$(id)||`);
});

interface Quasi {
	value: { cooked: string };
}

/** Programs that an administrator is told to run. */
const programs = /(?:^|[\s'"`(])(?:stowage|sudo|chown|chgrp|chmod|mv|rm|mount|systemctl)(?: [^.;]*| )$/;

/** What stands before a value in a template that is no `shellCommand`: there a word of the database would be a command of its own. */
async function unquotedCommands(file: string): Promise<string[]> {
	const text = await readFile(file, 'utf8');
	const lineOf = lineReader(text);
	const found: string[] = [];
	visit(parse(file, text), (node, parent) => {
		if (node.type !== 'TemplateLiteral') return;
		if (parent?.type === 'TaggedTemplateExpression' && (parent.tag as Node).name === 'shellCommand') return;
		for (const [index, expression] of (node.expressions as Node[]).entries()) {
			// A command of its own.
			if (expression.type === 'TaggedTemplateExpression') continue;
			const cooked = (node.quasis as Quasi[])[index]?.value.cooked ?? '';
			if (programs.test(cooked)) found.push(`${file}:${lineOf(node.start)}: ${cooked.slice(-60)}\${…}`);
		}
	});
	return found;
}

/** Where what looks like a command is none that anybody pastes, or has no word of the database. */
const noCommands = [
	'cli/src/commandLine/help.ts',
	'cli/src/commands/completion.ts',
	'cli/src/service/unitFault.ts',
	'cli/src/service/unit.ts',
	'packages/core/src/config/access/walkPath.ts',
];

test('what an administrator is told to run is made by shellCommand alone', async (t) => {
	const folders = (await glob('.', /^src$/, ['packages', 'plugins', 'cli'])).filter(
		(each) => !each.includes('conformance'),
	);
	const files = (await Promise.all(folders.map((folder) => glob(folder, /\.ts$/)))).flat();
	t.true(files.length > 500);
	const examined = files.filter((file) => !noCommands.includes(file));
	t.is(examined.length, files.length - noCommands.length);
	t.deepEqual((await Promise.all(examined.map(unquotedCommands))).flat(), []);
});
