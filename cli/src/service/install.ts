import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { Failure } from '@stowage/rules';
import { type InstalledUnit, installedUnit } from './installedUnit.js';
import { commandStep, folderStep, limitedStep, type OwnerOf, removeStep, type Step, writeStep } from './steps.js';
import { defaultDataDir, sandboxDropIn, sandboxText, type UnitOptions, unitName, unitText } from './unit.js';

export interface InstallOptions extends UnitOptions {
	/** Another root to install into, such as an image that is being built: nothing is started there. `/` is this machine. */
	root: string;
	/** Whether the drop-in for conversions in a sandbox is written as well. */
	isSandboxed: boolean;
}

const unitFolder = '/etc/systemd/system';
/** The start itself goes on. */
const startLimit = {
	ms: 90_000,
	isLate: 'The service is installed, and still starts. What it waits for, such as a database: systemctl status stowage',
};
const sysusersFile = '/etc/sysusers.d/stowage.conf';

/**
 * The steps of an installation, in order. An existing configuration is not changed. Throws `invalid` for settings that the service could
 * not use.
 */
export async function installSteps(options: InstallOptions): Promise<Step[]> {
	const { root, user, config, dataDir, isSandboxed } = options;
	const unit = unitText(options);
	const isHere = root === '/';
	const isNew = !(await exists(path.join(root, config)));
	await assertReplaceable(root, config, isNew);
	if (isHere) await assertUsable(options);
	const ownerOf = () => userOf(user, root);
	const steps = [
		writeStep(path.join(root, sysusersFile), `u ${user} - "Stowage" ${dataDir}\n`, 0o644),
		commandStep('systemd-sysusers', ...(isHere ? [] : [`--root=${root}`]), path.join(root, sysusersFile)),
	];
	if (isNew) {
		// It may contain the database's password later.
		steps.push(writeStep(path.join(root, config), configText(dataDir), 0o640, ownerOf));
	}
	if (dataDir !== defaultDataDir) steps.push(folderStep(path.join(root, dataDir), ownerOf));
	steps.push(writeStep(path.join(root, unitFolder, unitName), unit, 0o644));
	const dropIn = path.join(root, unitFolder, sandboxDropIn);
	if (isSandboxed) steps.push(writeStep(dropIn, sandboxText(), 0o644));
	else if (await exists(dropIn)) steps.push(removeStep(dropIn));
	if (!isHere) return [...steps, commandStep('systemctl', `--root=${root}`, 'enable', unitName)];
	return [
		...steps,
		commandStep('systemctl', 'daemon-reload'),
		commandStep('systemctl', 'enable', unitName),
		// Starts the service, or restarts it with a new program and unit.
		limitedStep(startLimit, 'systemctl', 'restart', unitName),
	];
}

/** Throws `conflict` where the unit is an administrator's own, or goes by a configuration that a new one would take the place of. */
async function assertReplaceable(root: string, config: string, isNew: boolean): Promise<void> {
	const present = await installedUnit(root);
	assertOwn(present, 'move it away, and install again');
	if (!isNew || present?.config === undefined || present.config === config) return;
	throw new Failure(
		'conflict',
		`${present.file} goes by ${present.config}, and there is no ${config}: name the former by --config, or make the latter first.`,
	);
}

/** Throws `conflict` for an administrator's own unit. */
function assertOwn(present: InstalledUnit | undefined, remedy: string): void {
	if (!present?.isOfAdministrator) return;
	throw new Failure('conflict', `This command has not written ${present.file}: ${remedy}.`);
}

/** Removes the unit, unless it is an administrator's own. The data, the configuration and the user stay. */
export async function uninstallSteps(root: string): Promise<Step[]> {
	const unit = path.join(root, unitFolder, unitName);
	if (!(await exists(unit))) throw new Failure('notFound', `There is no service to uninstall: ${unit} does not exist.`);
	assertOwn(await installedUnit(root), 'disable and remove it yourself');
	const isHere = root === '/';
	return [
		isHere
			? commandStep('systemctl', 'disable', '--now', unitName)
			: commandStep('systemctl', `--root=${root}`, 'disable', unitName),
		removeStep(path.join(root, unitFolder, sandboxDropIn)),
		removeStep(unit),
		...(isHere ? [commandStep('systemctl', 'daemon-reload')] : []),
	];
}

function configText(dataDir: string): string {
	return `# The settings of Stowage; 'stowage config print --config <this file>' shows all of them.\ndataDir: ${JSON.stringify(dataDir)}\n`;
}

/** Why it can't see the files of others there. */
export const ownTmp = 'The service has a /tmp of its own';

export function isTemporary(folder: string): boolean {
	return /^\/(var\/)?tmp(\/|$)/.test(folder);
}

/** Throws `invalid` if the service would see an empty folder instead, or its user could not read the program. */
async function assertUsable({ node, program, dataDir, storageRoots }: UnitOptions): Promise<void> {
	for (const folder of [dataDir, ...storageRoots])
		if (isTemporary(folder)) throw new Failure('invalid', `${ownTmp}: ${folder} can't hold its files.`);
	await assertReadableByAll(node);
	await assertReadableByAll(program);
}

/** Throws `invalid` for a file that users without rights of their own can't reach and read. */
export async function assertReadableByAll(file: string): Promise<void> {
	for (let at = file; ; at = path.dirname(at)) {
		const needed = at === file ? constants.S_IROTH : constants.S_IXOTH;
		if (((await stat(at)).mode & needed) === 0)
			throw new Failure('invalid', `The service's user can't read ${file}: ${at} is closed to it.`);
		if (at === path.dirname(at)) return;
	}
}

/** The ids of a user in the tree that is installed into. */
async function userOf(user: string, root: string): ReturnType<OwnerOf> {
	const lines = (await readFile(path.join(root, 'etc/passwd'), 'utf8')).split('\n').map((line) => line.split(':'));
	const [, , uid, gid] = lines.find(([name]) => name === user) ?? [];
	if (uid === undefined || gid === undefined) throw new Failure('notFound', `There is no user ${user}.`);
	return { uid: Number(uid), gid: Number(gid) };
}

function exists(file: string): Promise<boolean> {
	return access(file).then(
		() => true,
		() => false,
	);
}
