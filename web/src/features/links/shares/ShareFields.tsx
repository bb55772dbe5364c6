import { Checkbox, FormGroup, HTMLSelect, InputGroup, TextArea } from '@blueprintjs/core';
import { type ShareMode, shareModes, shareTextLength } from '@stowage/rules';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import type { Share, useShareLimits } from '../../../api/shares.js';
import { FormError } from '../../../ui/display/FormError.js';
import fields from '../../../ui/fields/fields.module.css';
import { PasswordField } from '../../../ui/fields/PasswordField.js';
import { TextField } from '../../../ui/fields/TextField.js';
import { UnitSelect } from '../../../ui/fields/UnitSelect.js';
import { shareMessages as messages } from './messages.js';
import styles from './ShareFields.module.css';
import { endOptions, type FormProblem, type ShareEnd, type ShareFormState } from './shareForm.js';

export interface ShareFieldsProps {
	form: ShareFormState;
	onChange: (changes: Partial<ShareFormState>) => void;
	/** The share that is changed: what it lets others do stays. */
	share?: Share;
	/** Whether files can be received: into one folder only. */
	mayReceive: boolean;
	/** What the administrator allows; undefined until it is known. */
	limits: ReturnType<typeof useShareLimits>;
	/** Why what was chosen can't be sent; each attempt has its own. */
	problem: FormProblem | undefined;
}

/** The settings of a share, new or existing. */
export function ShareFields({ form, onChange, share, mayReceive, limits, problem }: ShareFieldsProps) {
	const { requirePassword = false, maxLifetime = 0 } = limits ?? {};
	const root = useRef<HTMLDivElement>(null);
	useEffect(() => {
		if (problem) root.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
	}, [problem]);
	const errorOf = (field: FormProblem['field']) => (problem?.field === field ? problem.problem : undefined);
	const hasPassword = share?.hasPassword === true;
	return (
		<div ref={root} className={styles.fields}>
			<div className={styles.pair}>
				{!share && mayReceive && (
					<Choice
						label={messages.can}
						value={form.mode}
						options={shareModes.map((value) => ({ value, label: messages.modes[value] }))}
						onValue={(mode) => onChange({ mode: mode as ShareMode })}
					/>
				)}
				<Choice
					label={messages.expires}
					value={form.end}
					options={endOptions(share)}
					onValue={(end) => onChange({ end: end as ShareEnd })}
					hint={maxLifetime > 0 ? messages.lifetime(maxLifetime) : undefined}
				/>
				{form.end === 'date' && (
					<Labelled label={messages.date} error={errorOf('date')}>
						{(id) => (
							<InputGroup
								id={id}
								size="large"
								type="date"
								value={form.date}
								onValueChange={(date) => onChange({ date })}
								aria-invalid={errorOf('date') !== undefined}
							/>
						)}
					</Labelled>
				)}
			</div>
			<div className={styles.pair}>
				<div>
					<PasswordField
						label={messages.password}
						autoComplete="new-password"
						value={form.password}
						onValue={(password) => onChange({ password })}
						hint={passwordHint(hasPassword, requirePassword)}
						error={errorOf('password')}
					/>
					{hasPassword && !requirePassword && (
						<Checkbox
							label={messages.removePassword}
							checked={form.removesPassword}
							disabled={form.password !== ''}
							onChange={({ currentTarget }) => onChange({ removesPassword: currentTarget.checked })}
						/>
					)}
				</div>
				{form.mode !== 'upload' && (
					<TextField
						label={messages.limitDownloads}
						autoComplete="off"
						inputMode="numeric"
						value={form.maxDownloads}
						onValue={(maxDownloads) => onChange({ maxDownloads })}
						hint={messages.limitDownloadsHint}
						error={errorOf('maxDownloads')}
					/>
				)}
				{form.mode !== 'view' && (
					<TextField
						label={messages.limitUploads}
						autoComplete="off"
						inputMode="decimal"
						value={form.maxUpload.text}
						onValue={(text) => onChange({ maxUpload: { ...form.maxUpload, text } })}
						rightElement={
							<UnitSelect
								name={messages.uploadUnit}
								size={form.maxUpload}
								onSize={(maxUpload) => onChange({ maxUpload })}
							/>
						}
						hint={messages.limitUploadsHint}
						error={errorOf('maxUpload')}
					/>
				)}
			</div>
			{!share && form.mode !== 'view' && (
				<Checkbox
					label={messages.askName}
					checked={form.asksName}
					onChange={({ currentTarget }) => onChange({ asksName: currentTarget.checked })}
				/>
			)}
			<Labelled label={messages.title}>
				{(id) => (
					<InputGroup
						id={id}
						size="large"
						autoComplete="off"
						maxLength={shareTextLength.title}
						value={form.title}
						onValueChange={(title) => onChange({ title })}
					/>
				)}
			</Labelled>
			<Labelled label={messages.message}>
				{(id) => (
					<TextArea
						id={id}
						fill
						rows={2}
						autoResize
						maxLength={shareTextLength.message}
						value={form.message}
						onChange={({ currentTarget }) => onChange({ message: currentTarget.value })}
					/>
				)}
			</Labelled>
		</div>
	);
}

function passwordHint(hasPassword: boolean, isRequired: boolean): string {
	if (hasPassword) return messages.passwordKept;
	return isRequired ? messages.passwordNeeded : messages.passwordHint;
}

interface ChoiceProps {
	label: string;
	value: string;
	options: readonly { value: string; label: string }[];
	onValue: (value: string) => void;
	hint?: string | undefined;
}

function Choice({ label, value, options, onValue, hint }: ChoiceProps) {
	return (
		<Labelled label={label} hint={hint}>
			{(id) => (
				<HTMLSelect
					id={id}
					fill
					large
					aria-describedby={hint === undefined ? undefined : `${id}-hint`}
					value={value}
					options={[...options]}
					onChange={({ currentTarget }) => onValue(currentTarget.value)}
				/>
			)}
		</Labelled>
	);
}

interface LabelledProps {
	label: string;
	hint?: string | undefined;
	error?: string | undefined;
	children: (id: string) => ReactNode;
}

function Labelled({ label, hint, error, children }: LabelledProps) {
	const id = useId();
	return (
		<FormGroup
			className={fields.field ?? ''}
			label={label}
			labelFor={id}
			helperText={hint && <span id={`${id}-hint`}>{hint}</span>}
		>
			{children(id)}
			{error !== undefined && <FormError className={fields.error}>{error}</FormError>}
		</FormGroup>
	);
}
