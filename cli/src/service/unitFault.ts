import { type InstalledUnit, installCommand } from './installedUnit.js';
import { writableUnitPath } from './mountPoints.js';

/** Why the service can't use a folder of files as it should; undefined if the unit is right. */
export interface UnitFault {
	isWritable: boolean;
	message: string;
	remedy: string;
}

export async function unitFaultOf(unit: InstalledUnit, folder: string): Promise<UnitFault | undefined> {
	const named = await unit.writableFolderOf(folder);
	const wanted = await writableUnitPath(folder);
	const { installedWith } = unit;
	const remedy =
		installedWith !== undefined
			? installCommand(installedWith)
			: `sudo systemctl edit stowage, with the lines [Service] and ReadWritePaths=-${wanted}, then sudo systemctl restart stowage`;
	if (named === undefined)
		return { isWritable: false, message: `${unit.file} does not let the service write to ${folder}`, remedy };
	if (wanted === folder || !named.startsWith(`${wanted}/`)) return undefined;
	return {
		isWritable: true,
		message: `${unit.file} names ${named}, which is below the mount point ${wanted}: the service keeps that disk when it is unmounted, and does not see the next one`,
		remedy: installedWith !== undefined ? remedy : `${remedy} (and without the line for ${named})`,
	};
}
