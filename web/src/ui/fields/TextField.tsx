import { FormGroup, InputGroup } from '@blueprintjs/core';
import { type JSX, type Ref, useId } from 'react';
import { FormError } from '../display/FormError.js';
import styles from './fields.module.css';

export interface FieldProps {
	label: string;
	value: string;
	onValue: (value: string) => void;
	autoComplete: string;
	inputRef?: Ref<HTMLInputElement>;
	/** What was typed was refused. @default false */
	isInvalid?: boolean;
	/** Why it was refused, which is said below it. */
	error?: string | undefined;
}

export interface TextFieldProps extends FieldProps {
	/** @default 'text' */
	type?: 'text' | 'password';
	/** The keys that a phone shows; all by default. */
	inputMode?: 'numeric' | 'decimal';
	/** Focused as soon as it appears. A focus after the fade would lose the first characters that a quick user types. @default false */
	hasFocusFirst?: boolean;
	hint?: string;
	/** A button or a choice at its end. */
	rightElement?: JSX.Element;
}

/** A field of a form, with its label above it, for what is typed exactly: names and passwords. */
export function TextField(props: TextFieldProps) {
	const { label, value, onValue, autoComplete, type = 'text', inputRef, hasFocusFirst, hint, rightElement } = props;
	const { inputMode, error, isInvalid = error !== undefined } = props;
	const id = useId();
	return (
		<FormGroup
			className={styles.field}
			label={label}
			labelFor={id}
			{...(hint === undefined ? {} : { helperText: <span id={`${id}-hint`}>{hint}</span> })}
		>
			<InputGroup
				id={id}
				size="large"
				type={type}
				value={value}
				onValueChange={onValue}
				autoComplete={autoComplete}
				autoCapitalize="none"
				spellCheck={false}
				autoFocus={hasFocusFirst}
				{...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` })}
				{...(inputMode ? { inputMode } : {})}
				{...(isInvalid ? { 'aria-invalid': true } : {})}
				{...(inputRef ? { inputRef } : {})}
				{...(rightElement ? { rightElement } : {})}
			/>
			{error !== undefined && <FormError className={styles.error}>{error}</FormError>}
		</FormGroup>
	);
}
