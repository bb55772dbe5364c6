import { execFile } from 'node:child_process';
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { memoryFolder } from '../memoryFolder.js';
import { startServer } from '../serverProcess.js';
import { checkServing } from './checkServing.js';
import { tryDeb } from './tryDeb.js';

const execute = promisify(execFile);

/** Runs a script of the clone that makes something in a folder; resolves to the last line that it prints. */
async function script(folder: string, name: string, ...args: string[]): Promise<string> {
	const env = { ...process.env, TMPDIR: folder };
	const { stdout } = await execute(process.execPath, [`scripts/${name}`, folder, ...args], { env });
	return stdout.trim().split('\n').at(-1) ?? '';
}

/** Larger than the package, and far smaller than one with the page's libraries. */
const maxBytes = 6 * 1024 * 1024;

test('the npm package installs into an empty folder without a compiler and serves, and so does the Debian package made of it', async (t) => {
	const folder = await memoryFolder(t, 600);
	const tarball = await script(folder, 'package.js');
	t.true((await stat(tarball)).size < maxBytes);

	// Only the programs that npm itself needs.
	const programs = path.join(folder, 'programs');
	await mkdir(programs);
	for (const program of ['sh', 'node', 'npm']) {
		await symlink((await execute('which', [program])).stdout.trim(), path.join(programs, program));
	}
	const { NODE_EXTRA_CA_CERTS, HOME } = process.env;
	await writeFile(path.join(folder, 'npmrc'), '');
	await execute(
		'npm',
		['install', '--global', '--prefix', folder, '--prefer-offline', '--no-audit', '--no-fund', tarball],
		{
			env: { PATH: programs, HOME, NODE_EXTRA_CA_CERTS, npm_config_userconfig: path.join(folder, 'npmrc') },
		},
	);
	const app = path.join(folder, 'lib/node_modules/stowage');
	await t.throwsAsync(
		stat(path.join(app, 'node_modules/react')),
		{ code: 'ENOENT' },
		'the libraries of the page are bundled',
	);
	const server = await startServer(t, {
		command: path.join(folder, 'bin/stowage'),
		args: ['serve', '--port', '0', '--data-dir', path.join(folder, 'data')],
	});
	await checkServing(t, server.url);
	const { version } = (await (await fetch(`${server.url}/api/health`)).json()) as { version: string };
	t.regex(version, /^\d+\.\d+\.\d+(\+\d{12}\.[0-9a-f]+(\.changed)?)?$/);
	t.is((await execute(path.join(folder, 'bin/stowage'), ['--version'])).stdout.trim(), version);
	await server.stop();

	// With the installed Node and no compression: test/faults has the package as it is published.
	const deb = await script(folder, 'deb.js', '--fast', '--app', app, '--node', process.execPath);
	await tryDeb(t, deb);
});

test('the program runs without __proto__, started by its bin file or by the Debian package', async (t) => {
	const bin = path.resolve('cli/bin/stowage.js');
	const program = `process.on('exit', () => console.log('__proto__' in {})); process.argv = ['node', 'stowage', '--version']; await import(${JSON.stringify(bin)})`;
	const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', program], {
		env: { ...process.env, NODE_OPTIONS: '' },
	});
	t.regex(stdout, /\nfalse\n$/);
	t.regex(await readFile('scripts/packaging/debian/stowage', 'utf8'), /--disable-proto=delete/);
});
