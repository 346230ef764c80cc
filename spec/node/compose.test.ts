import Ajv from "ajv";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../../ts-src/node/testkit/workdir";

/**
 * docker-compose.yml against the Compose Specification, which Compose 2.x takes. That 1.29 takes it, or whichever
 * version the machine has, is shown by spec/docker/compose.test.ts, which brings it up.
 */
interface Service {
  image: string;
  read_only?: boolean;
  cap_drop?: string[];
  tmpfs?: string[];
  ports?: string[];
  healthcheck?: unknown;
  build: { args: Record<string, string> };
  profiles?: string[];
}

const require = createRequire(import.meta.url);

describe("docker-compose.yml", () => {
  let file: { version?: string; services: Record<string, Service> };

  beforeAll(() => {
    const text = readFileSync(join(ROOT, "docker-compose.yml"), "utf8");
    file = parse(text, { merge: true }) as typeof file;
  });

  it("follows the Compose Specification", () => {
    const schema = JSON.parse(
      readFileSync(join(require.resolve("docker-compose"), "../../schema/compose-spec.json"), "utf8"),
    ) as { $schema?: string };
    // The same draft under the name that the validator knows.
    schema.$schema = "http://json-schema.org/draft-07/schema#";
    const ajv = new Ajv({ schemaId: "auto", unknownFormats: "ignore" });
    const valid = ajv.validate(schema, file);
    expect(ajv.errorsText()).toBe("No errors");
    expect(valid).toBe(true);
    // 2.x calls the key obsolete, and 1.29 would take a number there for its old formats.
    expect(file.version).toBeUndefined();
  });

  it("has a gateway, six nodes, and a load generator that does not start by itself", () => {
    const names = Object.keys(file.services);
    expect(names.filter((name) => /^node\d$|^slow$/.test(name))).toHaveLength(6);
    expect(names).toEqual(expect.arrayContaining(["gateway", "wrk"]));
    expect(file.services["wrk"].profiles).toEqual(["wrk"]);
  });

  it("lets every service write to /tmp only, drop its capabilities, and be checked", () => {
    for (const [name, service] of Object.entries(file.services)) {
      expect(service, name).toMatchObject({ read_only: true, cap_drop: ["ALL"], tmpfs: ["/tmp"] });
      if (name !== "wrk") expect(service.healthcheck, name).toBeDefined();
      for (const port of service.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  it("pins the versions of its images", () => {
    const dockerfile = readFileSync(join(ROOT, "docker", "Dockerfile"), "utf8");
    const base = /^ARG BASE_IMAGE=(.*)$/m.exec(dockerfile)?.[1];
    expect(base).toMatch(/^openresty\/openresty:\d+\.\d+\.\d+\.\d+-\d+-\w+/);
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
    for (const { image, build } of Object.values(file.services)) {
      expect(image).toMatch(new RegExp(`^lua-resty-ax(-wrk)?:${version.replaceAll(".", "\\.")}$`));
      expect(build.args["BASE_IMAGE"]).toBe(`\${BASE_IMAGE:-${base}}`);
    }
  });
});
