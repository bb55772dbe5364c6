import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bundleServer } from '../bundle.js';
import { must, root, tool } from '../run.js';
import { buildVersion } from './version.js';

/** Packages whose types the authors of plugins compile against. */
const typed = ['@stowage/plugin-api', '@stowage/rules', '@stowage/contract'];

/**
 * Lays out the package that is published: the program in `dist`, and the workspace's packages, by whose names plugins
 * find it, in `node_modules`. npm fetches all others when it is installed. Resolves to its manifest.
 */
export async function stagePackage(folder) {
	const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')).packages;
	const places = workspacePackages(lock, '@stowage/cli');
	await rm(folder, { recursive: true, force: true });
	const build = await buildOf(places);
	await writeDeclarations([...places].filter(([name]) => typed.includes(name)).map(([, place]) => place));
	for (const [name, place] of places) await stageOne(name, place, targetOf(folder, name), build);
	const folders = new Map([...places].map(([name, place]) => [place, path.relative(folder, targetOf(folder, name))]));
	const isOfServer = (place) => place !== places.get('@stowage/web');
	await bundleServer([...places.values()].filter(isOfServer), folder, (place) => folders.get(place));
	const manifest = { ...(await publishedManifest(lock, places)), buildVersion: build };
	await writeJson(path.join(folder, 'package.json'), manifest);
	await cp(path.join(root, 'README.md'), path.join(folder, 'README.md'));
	await cp(path.join(root, 'config'), path.join(folder, 'config'), {
		recursive: true,
		filter: (file) => !file.endsWith('.json'),
	});
	return manifest;
}

/** The types of packages. The compiler trusts its own notes of what it has written, also where that was removed. */
async function writeDeclarations(places) {
	const isWritten = places.every((place) => existsSync(path.join(root, place, 'dist/index.d.ts')));
	const args = ['--build', 'config/tsconfig.build.json', ...(isWritten ? [] : ['--force'])];
	await must(process.execPath, [tool('typescript/bin/tsc'), ...args]);
}

function targetOf(folder, name) {
	return name === '@stowage/cli' ? folder : path.join(folder, 'node_modules', name);
}

/** A workspace and all others that it depends on: names with their folders. */
function workspacePackages(lock, name, found = new Map()) {
	if (found.has(name)) return found;
	const place = lock[`node_modules/${name}`].resolved;
	found.set(name, place);
	for (const needed of Object.keys(dependenciesOf(lock, name, place))) {
		if (needed.startsWith('@stowage/')) workspacePackages(lock, needed, found);
	}
	return found;
}

/** The page's libraries are built into it. */
function dependenciesOf(lock, name, place) {
	return name === '@stowage/web' ? {} : (lock[place].dependencies ?? {});
}

/** npm drops from a version what follows its plus sign, so the build has a field of its own. */
async function buildOf(places) {
	const { version } = JSON.parse(await readFile(path.join(root, places.get('@stowage/cli'), 'package.json'), 'utf8'));
	return await buildVersion(version);
}

async function stageOne(name, place, target, build) {
	const source = path.join(root, place);
	await mkdir(target, { recursive: true });
	if (name === '@stowage/web' || typed.includes(name)) {
		await cp(path.join(source, 'dist'), path.join(target, 'dist'), {
			recursive: true,
			filter: (file) => name === '@stowage/web' || isDeclaration(source, path.relative(source, file)),
		});
	}
	if (name === '@stowage/cli') {
		await cp(path.join(source, 'bin'), path.join(target, 'bin'), { recursive: true });
		return;
	}
	const { version, description, license, type, exports } = JSON.parse(
		await readFile(path.join(source, 'package.json'), 'utf8'),
	);
	// Their dependencies are listed in the enclosing package: npm would take them for bundled ones here.
	const manifest = { name, version, buildVersion: build, description, license, type, exports: withoutSources(exports) };
	await writeJson(path.join(target, 'package.json'), manifest);
}

/** The output of a deleted source stays in `dist`. */
function isDeclaration(folder, file) {
	if (!/\.\w+$/.test(file)) return true;
	return (
		file.endsWith('.d.ts') && existsSync(path.join(folder, file.replace(/^dist/, 'src').replace(/\.d\.ts$/, '.ts')))
	);
}

function withoutSources(exports) {
	if (exports === undefined) return undefined;
	return Object.fromEntries(Object.entries(exports).map(([key, { source, ...rest }]) => [key, rest]));
}

async function publishedManifest(lock, places) {
	const { version, description, license, type, engines, bin } = JSON.parse(
		await readFile(path.join(root, 'cli/package.json'), 'utf8'),
	);
	const dependencies = {};
	const optionalDependencies = {};
	for (const [name, place] of places) {
		for (const needed of Object.keys(dependenciesOf(lock, name, place))) dependencies[needed] = versionOf(lock, needed);
		for (const needed of Object.keys(lock[place].optionalDependencies ?? {}))
			optionalDependencies[needed] = versionOf(lock, needed);
	}
	const bundled = [...places.keys()].filter((name) => name !== '@stowage/cli').sort();
	return {
		name: 'stowage',
		version,
		description,
		license,
		type,
		engines,
		bin,
		dependencies: sorted(dependencies),
		optionalDependencies: sorted(optionalDependencies),
		bundleDependencies: bundled,
	};
}

function versionOf(lock, name) {
	const { version, link, resolved } = lock[`node_modules/${name}`];
	return link ? lock[resolved].version : version;
}

/**
 * The part of the clone's lock that the dependencies of the published manifest reach, at the same places and without
 * the workspace's packages.
 */
export async function lockOf(manifest) {
	const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')).packages;
	const packages = { '': manifest };
	const visit = (from, needed, isOptional) => {
		for (const name of Object.keys(needed ?? {})) {
			const place = resolvedPlace(lock, from, name);
			// npm leaves out what is for another platform or an optional peer.
			if (place === undefined) {
				if (isOptional) continue;
				throw new Error(`${name}, which ${from || 'stowage'} needs, is not in the lock.`);
			}
			if (packages[place] !== undefined) continue;
			const { dev, ...own } = lock[place];
			packages[place] = own;
			visit(place, own.dependencies, false);
			visit(place, own.optionalDependencies, true);
			visit(place, own.peerDependencies, true);
		}
	};
	visit('', manifest.dependencies, false);
	visit('', manifest.optionalDependencies, true);
	return {
		name: manifest.name,
		version: manifest.version,
		lockfileVersion: 3,
		requires: true,
		packages: sorted(packages),
	};
}

/** Where a package finds another one: in its own `node_modules`, or in those of the packages around it. */
function resolvedPlace(lock, from, name) {
	for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
		const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
		if (lock[place] !== undefined) return place;
		if (at === '') return undefined;
	}
}

function sorted(object) {
	return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function writeJson(file, value) {
	return writeFile(file, `${JSON.stringify(value, undefined, '\t')}\n`);
}
