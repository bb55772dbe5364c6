import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from './build.js';
import { conffiles, maintainer, writeDocuments } from './packaging/documents.js';
import { prune } from './packaging/prune.js';
import { lockOf, stagePackage } from './packaging/stage.js';
import { must, root } from './run.js';

const sources = path.join(root, 'scripts/packaging');
const programs = ['usr/bin/stowage', 'usr/lib/stowage/bin/node'];
const architectures = { x64: 'amd64', arm64: 'arm64' };

/**
 * Makes `stowage_<version>_<architecture>.deb` in a folder from an installed package and a Node; resolves to its path.
 * `compression` is for dpkg-deb.
 */
export async function makeDeb(folder, { app, node, compression }) {
	await build();
	const tree = await mkdtemp(path.join(os.tmpdir(), 'stowage-deb-'));
	try {
		const { version: published, buildVersion: version = published } = JSON.parse(
			await readFile(path.join(app, 'package.json'), 'utf8'),
		);
		await layOut(tree, app, node);
		await writeDocuments(tree, version);
		await setModes(tree);
		for (const program of programs) await chmod(path.join(tree, program), 0o755);
		await writeControl(tree, version);
		const file = path.join(folder, `stowage_${version}_${architecture()}.deb`);
		await mkdir(folder, { recursive: true });
		await must('dpkg-deb', ['--root-owner-group', ...compression, '--build', tree, file], {
			stdio: ['ignore', 'ignore', 'inherit'],
		});
		return file;
	} finally {
		await rm(tree, { recursive: true, force: true });
	}
}

/** The package with all that it needs, each at the version of the clone's lock; and the Node of its own. */
export async function fetchParts(folder) {
	await build();
	const app = path.join(folder, 'app');
	const manifest = await stagePackage(app);
	// npm would remove packages that it does not know, so the workspace's own are moved aside.
	const workspacePackages = path.join(folder, 'workspace');
	await rename(path.join(app, 'node_modules/@stowage'), workspacePackages);
	const isThirdParty = ([name]) => !name.startsWith('@stowage/');
	const { bundleDependencies, ...rest } = manifest;
	const thirdParties = {
		...rest,
		dependencies: Object.fromEntries(Object.entries(rest.dependencies).filter(isThirdParty)),
	};
	await writeFile(path.join(app, 'package.json'), JSON.stringify(thirdParties));
	await writeFile(path.join(app, 'package-lock.json'), JSON.stringify(await lockOf(thirdParties)));
	await npmInstall(app);
	await rename(workspacePackages, path.join(app, 'node_modules/@stowage'));
	await writeFile(path.join(app, 'package.json'), `${JSON.stringify(manifest, undefined, '\t')}\n`);
	for (const left of ['package-lock.json', 'node_modules/.package-lock.json']) await rm(path.join(app, left));

	const nodeFolder = path.join(folder, 'node');
	await cp(path.join(sources, 'node'), nodeFolder, { recursive: true });
	await npmInstall(nodeFolder);
	return { app, node: path.join(nodeFolder, `node_modules/node-linux-${process.arch}/bin/node`) };
}

function npmInstall(folder) {
	const args = [
		'install',
		'--no-save',
		'--omit=dev',
		'--prefer-offline',
		'--no-audit',
		'--no-fund',
		'--loglevel=error',
	];
	return must('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

async function layOut(tree, app, node) {
	const at = (...names) => path.join(tree, ...names);
	const debian = (name) => path.join(sources, 'debian', name);
	await cp(app, at('usr/lib/stowage/app'), { recursive: true, verbatimSymlinks: true });
	// Executables of the dependencies; the server runs none of them.
	await rm(at('usr/lib/stowage/app/node_modules/.bin'), { recursive: true, force: true });
	await prune(at('usr/lib/stowage/app'));
	await mkdir(at('usr/lib/stowage/bin'), { recursive: true });
	await cp(node, at('usr/lib/stowage/bin/node'));
	await mkdir(at('usr/bin'));
	await cp(debian('stowage'), at('usr/bin/stowage'));
	await mkdir(at('etc/stowage'), { recursive: true });
	await cp(debian('config.yaml'), at('etc/stowage/config.yaml'));
	const documents = at('usr/share/doc/stowage');
	await mkdir(documents, { recursive: true });
	const license = path.join(path.dirname(path.dirname(node)), 'LICENSE');
	await cp(license, path.join(documents, 'LICENSE.node')).catch((error) => {
		// An installed Node has it elsewhere.
		if (error.code !== 'ENOENT') throw error;
	});
	const { defaultDataDir, unitName, unitText } = await import('../cli/dist/unit.js');
	await mkdir(at('lib/systemd/system'), { recursive: true });
	const unit = unitText({
		user: 'stowage',
		node: '/usr/lib/stowage/bin/node',
		program: '/usr/lib/stowage/app/bin/stowage.js',
		config: '/etc/stowage/config.yaml',
		dataDir: defaultDataDir,
		storageRoots: [],
	});
	await writeFile(at('lib/systemd/system', unitName), unit);
}

/** Independent of the umask with which the files were created. */
async function setModes(folder) {
	await chmod(folder, 0o755);
	for (const entry of await readdir(folder, { withFileTypes: true })) {
		const file = path.join(folder, entry.name);
		if (entry.isDirectory()) await setModes(file);
		else if (entry.isFile()) await chmod(file, 0o644);
	}
}

async function writeControl(tree, version) {
	const control = path.join(tree, 'DEBIAN');
	const files = await filesOf(tree);
	await mkdir(control, { mode: 0o755 });
	for (const script of ['postinst', 'prerm', 'postrm']) {
		await cp(path.join(sources, 'debian', script), path.join(control, script));
		await chmod(path.join(control, script), 0o755);
	}
	await writeFile(path.join(control, 'conffiles'), `${conffiles.join('\n')}\n`);
	let kilobytes = 0;
	let sums = '';
	for (const file of files) {
		const content = await readFile(path.join(tree, file));
		kilobytes += Math.ceil(content.length / 1024);
		if (!file.startsWith('etc/')) sums += `${createHash('md5').update(content).digest('hex')}  ${file}\n`;
	}
	await writeFile(path.join(control, 'md5sums'), sums);
	await writeFile(
		path.join(control, 'control'),
		[
			'Package: stowage',
			`Version: ${version}`,
			`Architecture: ${architecture()}`,
			`Maintainer: ${maintainer}`,
			`Installed-Size: ${kilobytes}`,
			'Depends: libc6 (>= 2.28), libstdc++6 (>= 8), passwd, systemd (>= 247)',
			'Recommends: bubblewrap, ffmpeg, poppler-utils',
			'Suggests: caddy | nginx, handbrake-cli',
			'Section: net',
			'Priority: optional',
			'Description: self-hosted file browser and sharing server',
			' Stowage shows the files of a disk in the browser: upload by dragging, preview,',
			' share by temporary links, with accounts and public folders. It runs as a',
			' systemd service of its own user and carries the Node that it needs.',
			'',
		].join('\n'),
	);
}

async function filesOf(tree) {
	const entries = await readdir(tree, { recursive: true, withFileTypes: true });
	return entries
		.filter((entry) => entry.isFile())
		.map((entry) => path.relative(tree, path.join(entry.parentPath, entry.name)))
		.sort();
}

function architecture() {
	const name = architectures[process.arch];
	if (name === undefined) throw new Error(`There is no Debian package for ${process.arch}.`);
	return name;
}

if (process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
	const { ensureInstalled } = await import('./install.js');
	await ensureInstalled();
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: { app: { type: 'string' }, node: { type: 'string' }, fast: { type: 'boolean', default: false } },
	});
	const target = path.resolve(positionals[0] ?? path.join(root, 'tmp'));
	const compression = values.fast ? ['-Znone'] : ['-Zgzip'];
	const parts = await mkdtemp(path.join(os.tmpdir(), 'stowage-parts-'));
	try {
		// Parts that are at hand need not be fetched.
		const { app, node } = values.app === undefined || values.node === undefined ? await fetchParts(parts) : values;
		console.log(await makeDeb(target, { app, node, compression }));
	} finally {
		await rm(parts, { recursive: true, force: true });
	}
}
