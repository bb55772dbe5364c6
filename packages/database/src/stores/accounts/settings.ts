import { defaultSettings, type UserSettings } from '@stowage/rules';
import type { Knex } from 'knex';
import { plainRow } from '../../connection/plainValues.js';

interface SettingsRow {
	user_id: string;
	prompt_before_download: boolean | number;
	enable_preview: boolean | number;
}

/** The settings of a user, with the defaults of missing ones. */
export async function settingsOf(knex: Knex, userId: string): Promise<UserSettings> {
	const row = await knex<SettingsRow>('settings').where({ user_id: userId }).first();
	if (row === undefined) return { ...defaultSettings };
	return {
		promptBeforeDownload: Boolean(row.prompt_before_download),
		enablePreview: Boolean(row.enable_preview),
	};
}

/** Changes the given settings in one statement, so that of two concurrent changes both take effect. */
export async function changeSettings(knex: Knex, userId: string, change: Partial<UserSettings>): Promise<UserSettings> {
	const row = toRow(userId, { ...defaultSettings, ...change });
	const changed: (keyof SettingsRow)[] = [];
	if (change.promptBeforeDownload !== undefined) changed.push('prompt_before_download');
	if (change.enablePreview !== undefined) changed.push('enable_preview');
	if (changed.length > 0)
		await knex<SettingsRow>('settings').insert(plainRow(row)).onConflict('user_id').merge(changed);
	return settingsOf(knex, userId);
}

function toRow(userId: string, settings: UserSettings): SettingsRow {
	return {
		user_id: userId,
		prompt_before_download: settings.promptBeforeDownload,
		enable_preview: settings.enablePreview,
	};
}
