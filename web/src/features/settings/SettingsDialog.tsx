import { Button, Dialog, DialogBody, DialogFooter, Switch } from '@blueprintjs/core';
import type { UserSettings } from '@stowage/rules';
import { type ReactNode, useId, useRef } from 'react';
import { messages } from '../../messages.js';
import { dialogMilliseconds, useOpenings } from '../../ui/dialogs/dialogs.js';
import styles from './SettingsDialog.module.css';
import { useSettingsDraft } from './useSettingsDraft.js';

export interface SettingsDialogProps {
	isOpen: boolean;
	/** As they are saved. */
	settings: UserSettings;
	onClose: () => void;
}

export function SettingsDialog({ isOpen, settings, onClose }: SettingsDialogProps) {
	const openings = useOpenings(isOpen);
	return (
		<Dialog
			key={openings}
			isOpen={isOpen}
			title={messages.settings}
			isCloseButtonShown={false}
			transitionDuration={dialogMilliseconds}
			onClose={onClose}
		>
			{/* Unmounted when the dialog closes, which discards the draft. */}
			<SettingsForm settings={settings} onClose={onClose} />
		</Dialog>
	);
}

function SettingsForm({ settings: saved, onClose }: Pick<SettingsDialogProps, 'settings' | 'onClose'>) {
	const { settings, change, save, maySave, isSaving, isSaved, error } = useSettingsDraft(saved, onClose);
	const cancel = useRef<HTMLButtonElement>(null);
	return (
		<>
			<DialogBody>
				<Section title={messages.downloadSettings}>
					<Setting
						label={messages.askBeforeDownload}
						hint={messages.askBeforeDownloadHint}
						hasFocusFirst
						isOn={settings.promptBeforeDownload}
						isDisabled={isSaving}
						onChange={(promptBeforeDownload) => change({ promptBeforeDownload })}
					/>
				</Section>
				<Section title={messages.previewSettings}>
					<Setting
						label={messages.enablePreview}
						hint={messages.enablePreviewHint}
						isOn={settings.enablePreview}
						isDisabled={isSaving}
						onChange={(enablePreview) => change({ enablePreview })}
					/>
				</Section>
				{isSaved && (
					<div className={styles.saved} role="status">
						{messages.settingsSaved}
					</div>
				)}
				{error !== undefined && (
					<div className={styles.error} role="alert">
						{error}
					</div>
				)}
			</DialogBody>
			<DialogFooter
				actions={
					<>
						<Button ref={cancel} text={messages.cancel} onClick={onClose} />
						<Button
							intent="primary"
							text={isSaving ? messages.saving : messages.saveChanges}
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

function Section({ title, children }: { title: string; children: ReactNode }) {
	const id = useId();
	return (
		<section className={styles.section} aria-labelledby={id}>
			<h3 className={styles.title} id={id}>
				{title}
			</h3>
			{children}
		</section>
	);
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
