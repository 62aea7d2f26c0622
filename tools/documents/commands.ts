// docs/operations/commands.md: every command as its help describes it.
import { jsonMembersOf } from '../../src/cli/json-members.ts';
import { MandateCommand } from '../../src/cli/mandate-command.ts';
import { createProgram } from '../../src/cli/program.ts';
import { codeBlock, printedFrom, table } from './markdown.ts';

export function commandsText(): string {
  const groups = subcommandsOf(createProgram());
  return `# Commands

${printedFrom('src/cli/program.ts')}

\`mandate <command> --help\` prints the same. A command needs the settings of the service: see [run commands](install.md#run-commands).
A command ends with 0 if it succeeded and with 1 if it failed, unless it says otherwise below. With 2 it could do nothing: the database,
its tables or its keys are missing, too old, or encrypted with another master key. Only commands that say so below create what is
missing.

${table(
  ['Command', 'What it does'],
  groups.map((group) => [`[\`${group.path()}\`](#${group.path()})`, `${group.summary()}.`]),
)}

${groups.map(groupText).join('\n\n')}
`;
}

function groupText(group: MandateCommand): string {
  const members = subcommandsOf(group);
  // A group that does something itself has options of its own.
  const own = members.length === 0 || group.options.length > 0 ? [commandText(group)] : [];
  const texts = members.map((member) => `### mandate ${member.path()}\n\n${commandText(member)}`);
  return [`## ${group.path()}`, ...own, ...texts].join('\n\n');
}

function commandText(command: MandateCommand): string {
  const help = command.createHelp();
  const parameters = [
    ...help
      .visibleArguments(command)
      .map((argument) => [
        argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
        help.argumentDescription(argument),
      ]),
    ...help
      .visibleOptions(command)
      .filter(({ long }) => long !== '--help')
      .map((option) => [
        help.optionTerm(option),
        `${option.mandatory ? 'required: ' : ''}${help.optionDescription(option)}`,
      ]),
  ];
  const json = jsonMembersOf(command.path());
  return [
    [`${command.summary()}.`, command.description()].join(' ').trim(),
    ...(parameters.length === 0 ? [] : [parameterTable(parameters)]),
    ...(json === undefined ? [] : [`JSON: ${json}`]),
    codeBlock('sh', command.examples.join('\n')),
  ].join('\n\n');
}

function parameterTable(rows: readonly (readonly string[])[]): string {
  return table(
    ['Argument or option', 'Meaning'],
    rows.map(([name = '', meaning = '']) => [`\`${name}\``, meaning]),
  );
}

function subcommandsOf(command: MandateCommand): MandateCommand[] {
  return command.commands.filter((one) => one instanceof MandateCommand);
}
