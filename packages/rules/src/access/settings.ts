/** A user's settings of the page (spec, section 3). */
export interface UserSettings {
	/** Every download asks first. */
	promptBeforeDownload: boolean;
	/** Opening a file shows its preview, if there is one, instead of downloading it. */
	enablePreview: boolean;
}

export const defaultSettings: Readonly<UserSettings> = { promptBeforeDownload: false, enablePreview: true };
