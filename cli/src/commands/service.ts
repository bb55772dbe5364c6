import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { loadConfig } from '@stowage/core';
import { Failure, truncateToBytes } from '@stowage/rules';
import { Command } from 'commander';
import { withHelp } from '../commandLine/help.js';
import { defaultPlugins } from '../commandLine/settings.js';
import { reasonOf } from '../doctor/findings.js';
import { ownProgram } from '../ownProgram.js';
import { addedRootsAsOwner } from '../service/addedRootsAsOwner.js';
import { type InstallOptions, installSteps, isTemporary, ownTmp, uninstallSteps } from '../service/install.js';
import { type InstalledWith, installedUnit } from '../service/installedUnit.js';
import { isMountPointUnknown, writableUnitPath } from '../service/mountPoints.js';
import type { Step } from '../service/steps.js';
import {
	assertServiceUser,
	defaultConfig,
	defaultDataDir,
	defaultUser,
	sandboxText,
	type UnitOptions,
	unitPathFault,
	unitText,
} from '../service/unit.js';
import { serviceFolders, writablePaths } from '../service/unitFolders.js';
import { printError, printLine, printText } from '../terminal/output.js';

/** Stowage as a service of systemd. */
export function serviceCommand(): Command {
	const print = withUnitOptions(new Command('print').description('print the unit that install would write'))
		.option('--drop-in', 'print the drop-in for conversions in a sandbox instead')
		.action(async ({ dropIn, ...options }: Flags & { dropIn?: true }) => {
			printText(dropIn ? sandboxText() : unitText(await unitOptions(options, await installedWith('/'))));
		});
	const install = withInstallOptions(
		withUnitOptions(new Command('install').description('make the user, write the unit, enable and start it')),
	)
		.option('--sandbox', 'lets the service run conversions in a bubblewrap sandbox; as installed by default')
		.option('--no-sandbox', 'removes what lets it do that')
		.action(async ({ root: named, dryRun, sandbox, ...options }: Flags & InstallFlags & { sandbox?: boolean }) => {
			const root = path.resolve(named);
			const installed = await installedWith(root);
			const all: InstallOptions = {
				...(await unitOptions(options, installed, root)),
				root,
				isSandboxed: sandbox ?? installed?.isSandboxed ?? false,
			};
			await perform(await installSteps(all), root, dryRun);
			if (!dryRun) printLine('Installed. The log: journalctl -u stowage');
		});
	const uninstall = withInstallOptions(
		new Command('uninstall').description('stop the service and remove its unit; data and configuration stay'),
	).action(async ({ root, dryRun }: InstallFlags) => {
		await perform(await uninstallSteps(path.resolve(root)), root, dryRun);
		if (!dryRun) printLine('Uninstalled. The data, the configuration and the user are still there.');
	});
	return new Command('service')
		.description('run Stowage as a systemd service')
		.addCommand(withHelp(print, ['service print', 'service print --config /etc/stowage/stowage.yaml --drop-in']))
		.addCommand(withHelp(install, ['service install', 'service install --dry-run']))
		.addCommand(withHelp(uninstall, ['service uninstall', 'service uninstall --dry-run']));
}

interface Flags {
	config?: string;
	user?: string;
}

interface InstallFlags {
	root: string;
	dryRun?: true;
}

function withUnitOptions(command: Command): Command {
	return command
		.option('--config <file>', `the configuration file; as installed by default, or ${defaultConfig}`)
		.option('--user <name>', `the system user and group that it runs as; as installed by default, or ${defaultUser}`);
}

function withInstallOptions(command: Command): Command {
	return command
		.option('--root <folder>', 'install into another tree, such as an image; nothing is started', '/')
		.option('--dry-run', 'only say what would be done');
}

/** Who installs again, as after an update, need not know the options. */
async function installedWith(root: string): Promise<InstalledWith | undefined> {
	return (await installedUnit(root))?.installedWith;
}

/** `installRoot` is the tree that is installed into, if it is. */
async function unitOptions(
	flags: Flags,
	installed: InstalledWith | undefined,
	installRoot?: string,
): Promise<UnitOptions> {
	const { config = installed?.config ?? defaultConfig, user = installed?.user ?? defaultUser } = flags;
	assertServiceUser(user);
	const file = path.resolve(config);
	return {
		user,
		node: process.execPath,
		program: await realpath(ownProgram),
		config: file,
		...(await foldersOf(file, installRoot)),
	};
}

/** The folders as the service will see them: without the environment variables and flags of this command. */
async function foldersOf(file: string, installRoot?: string): Promise<Pick<UnitOptions, 'dataDir' | 'storageRoots'>> {
	const root = installRoot ?? '/';
	const inRoot = path.join(root, file);
	const [flag, value] = existsSync(inRoot) ? ['--config', inRoot] : ['--data-dir', defaultDataDir];
	const config = loadConfig({ flags: { [flag]: value }, defaultPlugins });
	const { databaseUrl } = config;
	let added: string[] = [];
	try {
		const database = /^sqlite:(.*)$/s.exec(databaseUrl)?.[1];
		// A database server is this machine's, and not that of another tree.
		if (database !== undefined)
			added = await addedRootsAsOwner(`sqlite:${path.join(root, database)}`, path.join(root, config.dataDir));
		else if (root === '/') added = await addedRootsAsOwner(databaseUrl, config.dataDir);
	} catch (error) {
		printError(
			`The unit lacks storage roots that were added, for the database can't be read (${reasonOf(error)}). Do this again when it can.`,
		);
	}
	const nameable = await withoutUnnameable(added, installRoot === '/');
	const folders = serviceFolders(config, root === '/' ? await withoutUnknownDisks(nameable) : nameable);
	return { dataDir: folders.dataDir, storageRoots: await writablePaths(folders) };
}

/**
 * What the database says is up to the owner of the data folder: a root that no unit can name costs its own part, and
 * not the unit. One that the configuration names ends the command instead.
 */
async function withoutUnnameable(added: readonly string[], isInstalledHere: boolean): Promise<string[]> {
	const kept: string[] = [];
	for (const folder of added) {
		const fault =
			unitPathFault(folder) ??
			unitPathFault(await writableUnitPath(folder)) ??
			(isInstalledHere && isTemporary(folder) ? ownTmp : undefined);
		if (fault === undefined) kept.push(folder);
		else printError(`The unit lacks the storage root ${truncateToBytes(folder, 300)}. ${fault}.`);
	}
	return kept;
}

/**
 * A root whose disk is not mounted has the place that the present unit has for it, and else none: a folder below the mount point would
 * keep the disk from the service.
 */
async function withoutUnknownDisks(added: readonly string[]): Promise<string[]> {
	const unit = await installedUnit();
	const kept: string[] = [];
	for (const folder of added) {
		const isUnknown = await isMountPointUnknown(folder);
		const named = isUnknown ? await unit?.writableFolderOf(folder) : folder;
		if (named !== undefined && named !== '/' && !(isUnknown && named === folder)) kept.push(named);
		else
			printError(
				`The unit lacks the storage root ${folder}, since its disk is not mounted: the unit must name the mount point of the disk. Mount it, and do this again.`,
			);
	}
	return kept;
}

async function perform(steps: readonly Step[], root: string, isDryRun = false): Promise<void> {
	if (!isDryRun && process.getuid?.() !== 0)
		throw new Failure('forbidden', 'Only root can install or uninstall a service. See --dry-run for what it does.');
	if (path.resolve(root) !== '/' && !existsSync(root)) throw new Failure('notFound', `There is no folder ${root}.`);
	for (const step of steps) {
		printLine(step.description);
		if (!isDryRun) await step.run();
	}
}
