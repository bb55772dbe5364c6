import { copyFile, mkdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type UnitOptions, unitText } from '../../cli/src/service/unit.js';
import { copyOfMachine } from './copyOfMachine.js';

const ofPackage: UnitOptions = {
	user: 'stowage',
	node: '/usr/lib/stowage/bin/node',
	program: '/usr/lib/stowage/app/bin/stowage.js',
	config: '/etc/stowage/config.yaml',
	dataDir: '/var/lib/stowage',
	storageRoots: [],
};

test('the package is installed where a group of the name of its user is there already', async (t) => {
	const { run, script } = await machine(t);
	await run('groupadd', '--system', 'stowage');
	await script('postinst', 'configure', '');
	t.is((await run('id', '-gn', 'stowage')).trim(), 'stowage');
});

test('a masked service keeps the package neither from being installed nor from being removed', async (t) => {
	const { at, script } = await machine(t);
	await symlink('/dev/null', at('etc/systemd/system/stowage.service'));
	await script('postinst', 'configure', '');
	await script('prerm', 'remove');
	t.is(await readlink(at('etc/systemd/system/stowage.service')), '/dev/null');
});

test('a package is installed and removed beside the service of another program, and touches neither that nor its settings', async (t) => {
	const { at, calls, script, systemctl } = await machine(t);
	const unit = at('etc/systemd/system/stowage.service');
	const text = unitText({ ...ofPackage, node: '/opt/node', program: '/opt/stowage/cli/bin/stowage.js' });
	await writeFile(unit, text);
	await mkdir(`${unit}.d`);
	await writeFile(`${unit}.d/override.conf`, '[Service]\n');
	await systemctl('exit 0');
	const said = await script('postinst', 'configure', '');
	t.regex(said, /goes on by \/etc\/systemd\/system\/stowage\.service, which runs another program/);
	t.is((await stat(at('etc/stowage/config.yaml'))).mode & 0o777, 0o644);
	t.regex(await script('prerm', 'remove'), /runs another program .*\n.*a purge of this package removes/);
	await script('postrm', 'remove');
	await script('postrm', 'purge');
	t.deepEqual([...new Set(await calls())], ['daemon-reload']);
	t.is(await readFile(unit, 'utf8'), text);
	await stat(`${unit}.d/override.conf`);
});

test('the settings of a package beside a service with settings of its own are closed to others, as for that which comes later', async (t) => {
	const { at, run, script } = await machine(t);
	const other = { ...ofPackage, program: '/opt/stowage/cli/bin/stowage.js', config: '/srv/stowage.yaml' };
	await writeFile(at('etc/systemd/system/stowage.service'), unitText(other));
	await script('postinst', 'configure', '');
	t.is((await run('stat', '-c', '%a %G', '/etc/stowage/config.yaml')).trim(), '640 stowage');
});

test('a service that the package’s own program has installed anew is stopped and disabled with the package', async (t) => {
	const { at, calls, script, systemctl } = await machine(t);
	await writeFile(at('etc/systemd/system/stowage.service'), unitText(ofPackage));
	await systemctl('exit 0');
	await script('postinst', 'configure', '');
	await script('prerm', 'remove');
	t.deepEqual(await calls(), ['enable', 'daemon-reload', 'start', 'stop', 'is-enabled', 'disable']);
});

test('an installation does not wait without end for a server whose start waits', async (t) => {
	const { at, script, systemctl } = await machine(t);
	await systemctl('[ $1 = start ] && exec sleep 600; exit 0');
	// As if the time limit had passed.
	await rm(at('usr/bin/timeout'), { force: true });
	await writeFile(at('usr/bin/timeout'), '#!/bin/sh\n/bin/echo "$*" >/tmp/limited; exit 124\n', { mode: 0o755 });
	t.regex(await script('postinst', 'configure', ''), /^Stowage: the server still starts\./m);
	t.is(await readFile(at('tmp/limited'), 'utf8'), '90 systemctl start stowage.service\n');
});

/** A machine with the files of the package, whose scripts are called by their names. */
async function machine(t: ExecutionContext) {
	const { root, run } = await copyOfMachine(t);
	const at = (file: string) => path.join(root, file);
	await mkdir(at('etc/stowage'), { recursive: true });
	await writeFile(at('etc/stowage/config.yaml'), 'dataDir: /var/lib/stowage\n', { mode: 0o644 });
	await mkdir(at('lib/systemd/system'), { recursive: true });
	await writeFile(at('lib/systemd/system/stowage.service'), unitText(ofPackage));
	for (const name of ['postinst', 'prerm', 'postrm'])
		await copyFile(path.join('scripts/packaging/debian', name), at(`tmp/${name}`));
	return {
		at,
		run,
		script: (name: string, ...words: string[]) => run('sh', `/tmp/${name}`, ...words),
		/** Has systemd run, and its program do this. */
		async systemctl(what: string) {
			await mkdir(at('run/systemd/system'), { recursive: true });
			await rm(at('usr/bin/systemctl'));
			await writeFile(at('usr/bin/systemctl'), `#!/bin/sh\necho "$1" >>/tmp/calls\n${what}\n`, { mode: 0o755 });
		},
		calls: async () => (await readFile(at('tmp/calls'), 'utf8')).trim().split('\n'),
	};
}
