import { HTMLSelect } from '@blueprintjs/core';
import { useId } from 'react';
import { messages } from '../../../messages.js';
import type { IfExists } from '../queueItem.js';
import styles from './UploadQueue.module.css';

export interface IfExistsSelectProps {
	label: string;
	/** `mixed` only shows that the files differ; it can't be chosen. */
	value: IfExists | 'mixed';
	choices: readonly IfExists[];
	isDisabled: boolean;
	onChange: (ifExists: IfExists) => void;
}

/** The choice of what happens where a name is taken. */
export function IfExistsSelect({ label, value, choices, isDisabled, onChange }: IfExistsSelectProps) {
	const id = useId();
	return (
		<div className={styles.ifExists}>
			<label htmlFor={id}>{label}</label>
			<HTMLSelect
				id={id}
				value={value}
				disabled={isDisabled}
				onChange={(event) => {
					const chosen = choices.find((choice) => choice === event.currentTarget.value);
					if (chosen) onChange(chosen);
				}}
			>
				{choices.map((choice) => (
					<option key={choice} value={choice}>
						{messages.ifExists[choice]}
					</option>
				))}
				{value === 'mixed' && (
					<option value="mixed" disabled>
						{messages.mixed}
					</option>
				)}
			</HTMLSelect>
		</div>
	);
}
