import { Button, Dialog, DialogBody, DialogFooter, Switch } from '@blueprintjs/core';
import type { UserSettings } from '@stowage/rules';
import { useCallback, useId, useRef, useState } from 'react';
import { messages } from '../../messages.js';
import { dialogMilliseconds, useOpenings } from '../../ui/dialogs/dialogs.js';
import { useTyping } from '../../ui/dialogs/useTyping.js';
import { FormError } from '../../ui/display/FormError.js';
import { settingsMessages } from './messages.js';
import { PasswordSection } from './password/PasswordSection.js';
import { type Hold, Section } from './Section.js';
import styles from './SettingsDialog.module.css';
import { SessionsSection } from './sessions/SessionsSection.js';
import { TwoFactorSection } from './twoFactor/TwoFactorSection.js';
import { useSettingsDraft } from './useSettingsDraft.js';

export interface SettingsDialogProps {
	isOpen: boolean;
	username: string;
	/** The saved settings. */
	settings: UserSettings;
	onClose: () => void;
}

export function SettingsDialog({ isOpen, username, settings, onClose }: SettingsDialogProps) {
	const openings = useOpenings(isOpen);
	const [holdsSecret, setHoldsSecret] = useState(false);
	const { hasTyped, onInput } = useTyping(isOpen);
	return (
		<Dialog
			key={openings}
			isOpen={isOpen}
			className={styles.dialog}
			title={messages.settings}
			isCloseButtonShown={false}
			// A secret that the authenticator app has scanned already would be useless.
			canOutsideClickClose={!holdsSecret && !hasTyped}
			transitionDuration={dialogMilliseconds}
			onClose={onClose}
		>
			{/* Unmounted when the dialog closes, which discards the draft and the typed passwords. */}
			<SettingsForm
				username={username}
				settings={settings}
				onSecret={setHoldsSecret}
				onInput={onInput}
				onClose={onClose}
			/>
		</Dialog>
	);
}

interface SettingsFormProps extends Omit<SettingsDialogProps, 'isOpen'> {
	/** Whether it shows a secret that can't be shown again. */
	onSecret: (isShown: boolean) => void;
	onInput: () => void;
}

function SettingsForm({ username, settings: saved, onSecret, onInput, onClose }: SettingsFormProps) {
	const { isHeld, hold } = useHolders();
	const { settings, change, save, maySave, isSaving, isSaved, error } = useSettingsDraft(
		username,
		saved,
		isHeld,
		onClose,
	);
	const cancel = useRef<HTMLButtonElement>(null);
	return (
		<>
			<DialogBody className={styles.body} onInput={onInput}>
				<Section title={settingsMessages.downloadSettings}>
					<Setting
						label={settingsMessages.askBeforeDownload}
						hint={settingsMessages.askBeforeDownloadHint}
						hasFocusFirst
						isOn={settings.promptBeforeDownload}
						isDisabled={isSaving}
						onChange={(promptBeforeDownload) => change({ promptBeforeDownload })}
					/>
				</Section>
				<Section title={settingsMessages.previewSettings}>
					<Setting
						label={settingsMessages.enablePreview}
						hint={settingsMessages.enablePreviewHint}
						isOn={settings.enablePreview}
						isDisabled={isSaving}
						onChange={(enablePreview) => change({ enablePreview })}
					/>
				</Section>
				<PasswordSection username={username} hold={hold} />
				<TwoFactorSection username={username} hold={hold} onSecret={onSecret} />
				<SessionsSection username={username} hold={hold} />
			</DialogBody>
			{isSaved && (
				<div className={styles.saved} role="status">
					{settingsMessages.settingsSaved}
				</div>
			)}
			{error !== undefined && <FormError className={styles.error}>{error}</FormError>}
			<DialogFooter
				className={styles.footer}
				actions={
					<>
						<Button ref={cancel} text={messages.cancel} onClick={onClose} />
						<Button
							intent="primary"
							text={isSaving ? settingsMessages.saving : settingsMessages.saveChanges}
							disabled={!maySave}
							onClick={() => {
								// A disabled button that has the focus swallows every key, Escape too.
								cancel.current?.focus();
								save();
							}}
						/>
					</>
				}
			/>
		</>
	);
}

/** What the sections have that would be lost if the dialog closed by itself. */
function useHolders() {
	const [count, setCount] = useState(0);
	const hold = useCallback<Hold>(() => {
		setCount((before) => before + 1);
		return () => setCount((before) => before - 1);
	}, []);
	return { isHeld: count > 0, hold };
}

interface SettingProps {
	label: string;
	hint: string;
	isOn: boolean;
	isDisabled: boolean;
	hasFocusFirst?: boolean;
	onChange: (isOn: boolean) => void;
}

function Setting({ label, hint, isOn, isDisabled, hasFocusFirst = false, onChange }: SettingProps) {
	const id = useId();
	return (
		<div className={styles.setting}>
			<Switch
				role="switch"
				className={styles.switch}
				alignIndicator="end"
				label={label}
				aria-describedby={id}
				checked={isOn}
				disabled={isDisabled}
				autoFocus={hasFocusFirst}
				onChange={(event) => onChange(event.currentTarget.checked)}
			/>
			<p className={styles.hint} id={id}>
				{hint}
			</p>
		</div>
	);
}
