import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { exclusively } from './lock.js';
import { must, root } from './run.js';

/** Installs the packages of package-lock.json unless they are there already. */
export async function ensureInstalled() {
	checkNode();
	if (await isInstalled()) return;
	await exclusively(path.join(root, 'node_modules', '.stowage-install.lock'), async () => {
		if (await isInstalled()) return;
		// Written anew: several trees may share its bytes by hard links, and each has its own packages.
		await rm(path.join(root, 'node_modules', '.package-lock.json'), { force: true });
		console.error('Installing packages (once, about two minutes) ...');
		// Not `npm ci`: it refuses the lock file where a registry lacks a package of another platform, which this machine does not need.
		await must('npm', ['install', '--no-save', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']);
	});
}

function checkNode() {
	const [major, minor] = process.versions.node.split('.').map(Number);
	if (major > 20 || (major === 20 && minor >= 19)) return;
	console.error(`Stowage needs Node 20.19 or newer; this is ${process.versions.node}.`);
	process.exit(1);
}

/** npm keeps the list of what it installed; a package for another platform is rightly not in it. */
async function isInstalled() {
	const wanted = await packagesOf(path.join(root, 'package-lock.json'));
	const present = await packagesOf(path.join(root, 'node_modules', '.package-lock.json'));
	if (wanted === undefined || present === undefined) return false;
	return Object.entries(wanted).every(
		([name, entry]) =>
			!name.includes('node_modules/') ||
			entry.optional ||
			entry.peer ||
			(entry.link ? present[name]?.link === true : present[name]?.version === entry.version),
	);
}

async function packagesOf(file) {
	try {
		return JSON.parse(await readFile(file, 'utf8')).packages;
	} catch {
		// Not there, or cut off by an install that was interrupted: install again.
		return undefined;
	}
}
