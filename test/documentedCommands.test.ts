import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import test from 'ava';
import { createProgram } from '../cli/src/program.js';
import { testApp } from '../packages/core/test/testApp.js';

type Command = Awaited<ReturnType<typeof createProgram>>;

/** Commands of other programs, and the test that runs them or their equivalent. */
const testedElsewhere: readonly (readonly [RegExp, string])[] = [
	[
		/^apt (install|remove|purge) (--allow-downgrades )?(\.\/stowage_[\d.*]+_amd64\.deb|stowage)$/,
		'test/packages/tryDeb.ts',
	],
	[/^npm install -g \.\/stowage-[\d.]+\.tgz$/, 'test/packages/packages.test.ts'],
	[/^systemctl (reload|restart|start|status|stop) stowage$/, 'cli/test/service.test.ts'],
	[/^systemctl edit stowage$/, 'cli/test/service.test.ts'],
	[/^journalctl -u stowage$/, 'cli/test/service.test.ts'],
	[/^curl -[Fd] .* https:\/\/files\.example\.org\/api\/(upload\/public|register)$/, 'test/documentedCommands.test.ts'],
	[/^chown -R stowage: \/mnt\/photos$/, 'cli/test/service.test.ts'],
	[/^docker build -t stowage \.$/, 'test/packages/tryDeb.ts'],
	[
		/^docker run --init( --user 0( -e (PUID|PGID|UMASK)=\d+)+)? -p 7420:7420 -v [\w/]+:\/var\/lib\/stowage stowage$/,
		'cli/test/container.test.ts',
	],
];

async function commandsOf(file: string): Promise<string[]> {
	const text = await readFile(file, 'utf8');
	return [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
		block.split('\n').filter((line) => line !== ''),
	);
}

/** The command that these words name, with the words after it. */
function resolveCommand(command: Command, words: readonly string[]): [Command, readonly string[]] {
	const inner = command.commands.find((one) => one.name() === words[0]);
	return inner === undefined ? [command, words] : resolveCommand(inner, words.slice(1));
}

const isKnown = async (line: string): Promise<boolean> => {
	const [name = '', ...words] = line.replace(/^sudo /, '').split(' ');
	if (name === 'stowage') {
		const [command, rest] = resolveCommand(await createProgram(), words);
		const flags = rest.filter((word) => word.startsWith('--'));
		return command.commands.length === 0 && flags.every((flag) => command.options.some(({ long }) => long === flag));
	}
	const script = name === 'npm' ? /^(?:run )?(start|package[\w:]*)$/.exec(words.join(' '))?.[1] : undefined;
	if (script !== undefined) {
		const { scripts } = JSON.parse(await readFile('package.json', 'utf8')) as { scripts: Record<string, string> };
		return (await readFile((scripts[script] ?? '').replace(/^node /, ''), 'utf8')) !== '';
	}
	const covering = testedElsewhere.find(([pattern]) => pattern.test([name, ...words].join(' ')))?.[1];
	return covering !== undefined && (await readFile(covering, 'utf8')) !== '';
};

test('every command on the pages about installing and upgrading exists', async (t) => {
	for (const file of ['docs/install.md', 'docs/upgrade.md']) {
		const commands = await commandsOf(file);
		t.true(commands.length > 3);
		for (const line of commands) t.true(await isKnown(line), `${file}: ${line}`);
	}
});

test('the image has the files of the Debian package, a health check and an unprivileged user', async (t) => {
	const text = await readFile('Dockerfile', 'utf8');
	t.deepEqual(text.match(/^FROM \S+/gm), ['FROM debian:bookworm-slim', 'FROM debian:bookworm-slim']);
	t.regex(text, /^COPY --from=unpacked \/unpacked\/usr \/usr$/m);
	t.is(text.match(/^USER (.*)$/gm)?.at(-1), 'USER stowage');
	t.regex(text, /^HEALTHCHECK /m);
	t.regex(text, /^ENTRYPOINT \["\/usr\/bin\/stowage"\]\nCMD \["serve"\]$/m);
});

test('the calls by which an administrator checks that strangers are kept out are refused', async (t) => {
	const { server } = await testApp(t, { '--visitors': 'read', '--registration': 'closed' });
	const calls = (await commandsOf('docs/install.md')).filter((line) => line.startsWith('curl '));
	const answers = calls.map(async (line) => {
		const there = line.replace('https://files.example.org', `http://127.0.0.1:${server.info.port}`);
		const { stdout } = await promisify(execFile)('sh', ['-c', `${there} -sS -o /dev/null -w '%{http_code}'`]);
		return stdout;
	});
	t.deepEqual(await Promise.all(answers), ['401', '403']);
});
