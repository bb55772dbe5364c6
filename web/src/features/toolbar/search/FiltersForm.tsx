import { Button, Checkbox, FormGroup, InputGroup } from '@blueprintjs/core';
import { type SearchFilters, searchKinds } from '@stowage/rules';
import { type ReactNode, useId, useState } from 'react';
import { FormError } from '../../../ui/display/FormError.js';
import { UnitSelect } from '../../../ui/fields/UnitSelect.js';
import styles from './Filters.module.css';
import { filterMessages as messages } from './filterMessages.js';
import { draftOf, type FilterDraft, readDraft } from './filters.js';

export interface FiltersFormProps {
	/** What the fields begin with. */
	filters: SearchFilters;
	onApply: (filters: SearchFilters) => void;
}

type BoundField = 'minSize' | 'maxSize' | 'after' | 'before';

/** The fields of the filters. What they mean is read when they are applied. */
export function FiltersForm({ filters, onApply }: FiltersFormProps) {
	const [draft, setDraft] = useState(() => draftOf(filters));
	const [refusal, setRefusal] = useState<{ error: string; field: BoundField }>();
	const id = useId();
	const change = (changed: Partial<FilterDraft>) => {
		setDraft((last) => ({ ...last, ...changed }));
		setRefusal(undefined);
	};
	const propsOf = (name: BoundField) => ({
		id: `${id}-${name}`,
		...(refusal?.field === name && { 'aria-invalid': true, 'aria-describedby': `${id}-error` }),
	});
	const sizeField = (name: 'minSize' | 'maxSize', unitName: string) => (
		<InputGroup
			{...propsOf(name)}
			autoComplete="off"
			inputMode="decimal"
			value={draft[name].text}
			onValueChange={(text) => change({ [name]: { ...draft[name], text } })}
			rightElement={<UnitSelect name={unitName} size={draft[name]} onSize={(size) => change({ [name]: size })} />}
		/>
	);
	const dayField = (name: 'after' | 'before') => (
		<InputGroup {...propsOf(name)} type="date" value={draft[name]} onValueChange={(day) => change({ [name]: day })} />
	);
	return (
		<form
			className={styles.form}
			onSubmit={(event) => {
				event.preventDefault();
				const read = readDraft(draft, filters);
				if ('filters' in read) return onApply(read.filters);
				setRefusal(read);
				document.getElementById(`${id}-${read.field}`)?.focus();
			}}
		>
			<fieldset className={styles.kinds}>
				<legend>{messages.kind}</legend>
				{searchKinds.map((kind) => (
					<Checkbox
						key={kind}
						label={messages.kinds[kind]}
						checked={draft.kinds.includes(kind)}
						onChange={(event) => {
							const others = draft.kinds.filter((each) => each !== kind);
							change({ kinds: event.currentTarget.checked ? [...others, kind] : others });
						}}
					/>
				))}
			</fieldset>
			<div className={styles.bounds}>
				<Field id={`${id}-minSize`} label={messages.minSize}>
					{sizeField('minSize', messages.minUnit)}
				</Field>
				<Field id={`${id}-maxSize`} label={messages.maxSize}>
					{sizeField('maxSize', messages.maxUnit)}
				</Field>
				<Field id={`${id}-after`} label={messages.after}>
					{dayField('after')}
				</Field>
				<Field id={`${id}-before`} label={messages.before}>
					{dayField('before')}
				</Field>
			</div>
			<p className={styles.hint}>{messages.boundsHint}</p>
			{refusal && (
				<div id={`${id}-error`}>
					<FormError className={styles.error}>{refusal.error}</FormError>
				</div>
			)}
			<Button className={styles.apply} type="submit" intent="primary" fill text={messages.apply} />
		</form>
	);
}

function Field({ id, label, children }: { id: string; label: string; children: ReactNode }) {
	return (
		<FormGroup className={styles.field} label={label} labelFor={id}>
			{children}
		</FormGroup>
	);
}
