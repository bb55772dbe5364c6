import type { ReboundVersions } from '@stowage/plugin-api';
import { joinPath, rootPath } from '@stowage/rules';
import { copiedFiles } from '../trees/trash/versions/rebindVersions.js';
import type { HomeMoveParts, Move } from './HomeMove.js';

/** The files of the user that have versions, with their copies. Those in the trash follow with what is there. */
export function reboundVersions(
	{ database }: HomeMoveParts,
	{ job, source, target, home }: Move,
): Promise<ReboundVersions[]> {
	return copiedFiles(database.versions, job.viewer.id, rootPath, (path) => joinPath(home, path), source, target);
}
