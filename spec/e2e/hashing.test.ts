import { describe, expect, it } from "vitest";
import { type Backend, type Gateway, startupError, waitFor, withKit } from "../../ts-src/node/testkit";
import { nodesOf, statusOf, waitForStatus } from "./support";

const USERS = Array.from({ length: 60 }, (_, k) => `user-${k}`);

/** Scores are pinned: affinity follows them, and each gateway measures its own. */
function options(strategy: string, more: object = {}): object {
  const backend = { strategy, hash_key: "header:X-User", score_min: 1, score_max: 1, ...more };
  return { upstreams: { backend } };
}

/** Address of the node that served each user. */
async function ownersOf(gateway: Gateway): Promise<Record<string, string>> {
  const owners: Record<string, string> = {};
  for (const user of USERS) {
    const answer = await gateway.get("/", { headers: { "X-User": user } });
    expect(answer.status).toBe(200);
    owners[user] = String(answer.headers["x-upstream-addr"]);
  }
  return owners;
}

function usersOf(owners: Record<string, string>, node: Backend): string[] {
  return USERS.filter((user) => owners[user] === node.address);
}

describe.each(["consistent_hash", "affinity"])("%s", (strategy) => {
  it("sends a key to the same node on every worker and gateway, whatever the order of the nodes, over a reload", () =>
    withKit(`same-${strategy}`, async (kit) => {
      const backends = await kit.backends(5);
      const ax = options(strategy);
      const first = await kit.gateway({ workers: 2, servers: backends, ax });
      const second = await kit.gateway({ workers: 2, servers: [...backends].reverse(), ax });
      const owners = await ownersOf(first);
      expect(new Set(Object.values(owners)).size).toBe(5);
      expect(await ownersOf(second)).toEqual(owners);
      await first.reload();
      expect(await ownersOf(first)).toEqual(owners);
      expect((await statusOf(first)).faults).toEqual({});
    }));

  it("moves a killed node's keys and no others, and gives them back", () =>
    withKit(`killed-${strategy}`, async (kit) => {
      const backends = await kit.backends(4);
      const ax = options(strategy, { ramp_s: 1 });
      const gateway = await kit.gateway({ servers: backends, ax, server_params: "max_fails=1 fail_timeout=5s" });
      const before = await ownersOf(gateway);
      const dead = backends[1];
      await dead.kill();
      // The first request to it finds out: a retry serves it.
      await gateway.get("/", { headers: { "X-User": usersOf(before, dead)[0] } });
      const without: Record<string, string> = await ownersOf(gateway);
      for (const user of USERS) {
        if (before[user] === dead.address) expect(without[user]).not.toBe(dead.address);
        else expect(without[user]).toBe(before[user]);
      }
      await waitForStatus(gateway, "its ejection", (nodes) => nodes[1].state === "ejected");
      await dead.restart();
      // A request is its trial: one of its own keys, so that nobody else notices.
      await waitFor("its return", async () => {
        const owners = await ownersOf(gateway);
        for (const user of USERS) if (owners[user] !== dead.address) expect(owners[user]).toBe(without[user]);
        return (await nodesOf(gateway))[1].state === "online";
      });
      // The worker reads the snapshot a flush later.
      await waitFor(
        "its keys",
        async () => usersOf(await ownersOf(gateway), dead).length === usersOf(before, dead).length,
      );
      expect(await ownersOf(gateway)).toEqual(before);
    }));
});

describe("a request without a key", () => {
  it("goes by the client's address, and is counted", () =>
    withKit("keyless", async (kit) => {
      const gateway = await kit.gateway({ servers: await kit.backends(4), ax: options("consistent_hash") });
      const nodes = new Set<string>();
      for (let k = 0; k < 20; k++) nodes.add(String((await gateway.get("/")).headers["x-upstream-addr"]));
      expect(nodes.size).toBe(1);
      const keyless = (status: unknown): unknown =>
        (status as { upstreams: { keyless_picks?: number; hash_key?: string }[] }).upstreams[0];
      const status = await waitForStatus(gateway, "the count", (_, all) => {
        return (keyless(all) as { keyless_picks: number }).keyless_picks === 20;
      });
      expect(keyless(status)).toMatchObject({ hash_key: "header:X-User", keyless_picks: 20 });
    }));
});

describe("sources of keys", () => {
  it.each([
    ["$arg_id", "/?id=", {}],
    ["arg:id", "/?id=", {}],
    ["cookie:sid", "/", { Cookie: "a=b; sid=" }],
    ["header:X-Id", "/", { "X-Id": "" }],
  ])("%s", (source, path, headers) =>
    withKit("source", async (kit) => {
      const backends = await kit.backends(4);
      const ax = options("consistent_hash", { hash_key: source });
      const gateway = await kit.gateway({ servers: backends, ax });
      const ask = async (value: string): Promise<string> => {
        const given = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, `${text}${value}`]));
        const answer = await gateway.get(path === "/" ? path : path + value, { headers: given });
        return String(answer.headers["x-upstream-addr"]);
      };
      const seen = new Set<string>();
      for (const user of USERS.slice(0, 30)) {
        const owner = await ask(user);
        expect(await ask(user)).toBe(owner);
        seen.add(owner);
      }
      expect(seen.size).toBe(4);
    }),
  );

  it("a function of the user's own; one that throws costs the request nothing and is shown", () =>
    withKit("function", async (kit) => {
      const ax_lua = `{ upstreams = { backend = { strategy = "consistent_hash", hash_key = function()
        if ngx.var.arg_bad then error("no session table") end
        return ngx.var.http_x_user
      end } } }`;
      const gateway = await kit.gateway({ servers: await kit.backends(4), ax_lua });
      expect(new Set(Object.values(await ownersOf(gateway))).size).toBe(4);
      expect((await gateway.get("/?bad=1")).status).toBe(200);
      const status = await waitForStatus(gateway, "the fault", (_, { faults }) => faults["hash_key"] !== undefined);
      expect(status.faults["hash_key"].last_message).toContain("no session table");
    }));

  it("that are none stop the start", () =>
    withKit("bad-source", async (kit) => {
      const servers = await kit.backends(1);
      const text = await startupError({ servers, ax: options("consistent_hash", { hash_key: "user_id" }) });
      expect(text).toContain('upstreams.backend.hash_key: "user_id" is not a source of keys');
      expect(text).toContain('did you mean "$user_id"?');
    }));
});

describe("ip_hash", () => {
  it("keeps the clients of a network together, and apart where asked", () =>
    withKit("ip-hash", async (kit) => {
      const servers = await kit.backends(6);
      const server = "set_real_ip_from 127.0.0.1; real_ip_header X-Real-IP;";
      const owners = async (bits: number): Promise<Set<string>> => {
        const ax = options("ip_hash", { hash_key: undefined, strategy_options: { ipv4_prefix_bits: bits } });
        const gateway = await kit.gateway({ servers, ax, server });
        const seen = new Set<string>();
        for (let k = 1; k < 40; k++) {
          const answer = await gateway.get("/", { headers: { "X-Real-IP": `192.0.2.${k}` } });
          seen.add(String(answer.headers["x-upstream-addr"]));
        }
        return seen;
      };
      expect((await owners(24)).size).toBe(1);
      expect((await owners(32)).size).toBeGreaterThan(3);
    }));
});
